import JSONText

/// Issues the nonce of a social sign-in. It is valid once, for five minutes.
@Message
public struct IssueSocialNonce: PublicRequest {
    public typealias Reply = SocialNonce
    public static let type: MessageType = "auth.issue-social-nonce"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once,
        errors: [.identityProviderUnavailable, .methodNotAvailable], replyCarriesToken: true)
    public static let route = HTTPRoute(
        .post, "/auth/social/nonce", .public, "Issues a nonce for a social sign-in.")

    /// Who vouches for the identity.
    @Field(.identityProvider) public var provider: String
}

/// The reply to ``IssueSocialNonce``. The client gives the provider the SHA-256 of the nonce, in hexadecimal digits.
@Message
public struct SocialNonce: PublicReply {
    /// The nonce.
    @Field(.string(1...128)) public var nonce: String
    /// How long the nonce is valid.
    @Field(.integer(1...3600)) public var expiresInSeconds: Int64
}

/// Signs in with Apple. If the identity is not linked to an account, the reply has a link token, and the person
/// verifies a phone with it.
@Message
public struct SignInWithApple: PublicRequest {
    public typealias Reply = SocialSignedIn
    public static let type: MessageType = "auth.sign-in-with-apple"
    public static let rules = SocialSignedIn.rules
    public static let route = HTTPRoute(
        .post, "/auth/social/apple", .public, "Signs in with Apple.")

    /// Apple's identity token.
    @Field(.string(1...16_384)) public var identityToken: String
    /// The nonce as it was issued.
    @Field(.string(1...256)) public var nonce: String
    /// The device that signs in.
    public var device: DeviceClaim
    /// Exchanged once for a token, so that a deletion of the account can revoke it at Apple.
    @Field(.string(1...1024)) public var authorizationCode: String?
    /// The publishable key of the app that the person signs in to; missing for the default app.
    @Field(.publishableKey) public var app: String?
    /// How the person came to the app, such as an invitation or a campaign: a key that the app's plan knows.
    @Field(.publishableKey) public var entry: String?
}

/// Signs in with Google, as ``SignInWithApple`` does with Apple.
@Message
public struct SignInWithGoogle: PublicRequest {
    public typealias Reply = SocialSignedIn
    public static let type: MessageType = "auth.sign-in-with-google"
    public static let rules = SocialSignedIn.rules
    public static let route = HTTPRoute(
        .post, "/auth/social/google", .public, "Signs in with Google.")

    /// Google's identity token.
    @Field(.string(1...16_384)) public var identityToken: String
    /// The nonce as it was issued.
    @Field(.string(1...256)) public var nonce: String
    /// The device that signs in.
    public var device: DeviceClaim
    /// Not used: no token of Google's is kept.
    @Field(.string(1...1024)) public var authorizationCode: String?
    /// The publishable key of the app that the person signs in to; missing for the default app.
    @Field(.publishableKey) public var app: String?
    /// How the person came to the app, such as an invitation or a campaign: a key that the app's plan knows.
    @Field(.publishableKey) public var entry: String?
}

/// The result of a sign-in with an identity, or with a code by email.
public enum SocialSignedIn: PublicReply {
    /// The person is signed in.
    case session(Session)
    /// The person must verify a phone first.
    case phoneVerificationRequired(PhoneVerificationRequired)

    /// The identity is not linked to an account. A code that is requested with `linkToken` links it.
    @Message
    public struct PhoneVerificationRequired: MessageValue {
        /// Distinguishes this reply from a session.
        @Field(.values("phone_verification_required")) public var status: String = "phone_verification_required"
        /// Goes into the request for the code.
        @Field(.string(1...256)) public var linkToken: String
        /// How long the link token is valid.
        @Field(.integer(1...3600)) public var expiresInSeconds: Int64
        /// What Apple or Google says of the person. Missing if the provider says nothing.
        public var prefill: SignInPrefill?
    }

    public static let schema = JSONSchema.anyOf([Session.schema, PhoneVerificationRequired.schema]).named(
        Self.self, "What came of a social sign-in: a session, or the wish for a phone.")

    static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once,
        errors: [
            .identityTokenInvalid, .forbidden, .identityProviderUnavailable, .methodNotAvailable, .appUnknown,
            .entryUnknown,
        ], replyCarriesToken: true)

    private enum Discriminator: String, CodingKey { case status }

    public init(from decoder: any Decoder) throws {
        let isSession = try !decoder.container(keyedBy: Discriminator.self).contains(.status)
        self =
            isSession
            ? .session(try Session(from: decoder))
            : .phoneVerificationRequired(try PhoneVerificationRequired(from: decoder))
    }

    public init(json: JSONNode) throws(JSONMismatch) {
        self =
            json["status"] == nil
            ? .session(try Session(json: json)) : .phoneVerificationRequired(try PhoneVerificationRequired(json: json))
    }

    public func write(to json: JSONOutput) {
        switch self {
        case .session(let session): session.write(to: json)
        case .phoneVerificationRequired(let answer): answer.write(to: json)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .session(let session): try session.encode(to: encoder)
        case .phoneVerificationRequired(let answer): try answer.encode(to: encoder)
        }
    }
}
