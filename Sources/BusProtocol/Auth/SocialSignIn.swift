import JSONText

/// Issues the nonce of a social sign-in (`POST /auth/social/nonce`): it works once, and for five minutes.
public struct IssueSocialNonce: BusRequest {
    public typealias Reply = SocialNonce
    public static let type: MessageType = "auth.issue-social-nonce"
    public static let schema = JSONSchema.object([.required("provider", .values("apple", "google"))])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once, errors: [.identityProviderUnavailable],
        replyCarriesToken: true)

    public var provider: String
    public init(provider: String) { self.provider = provider }
}

/// The answer to ``IssueSocialNonce``. The provider is given the SHA-256 of the nonce, in hex.
public struct SocialNonce: PublicReply {
    public static let schema = JSONSchema.object([
        .required("nonce", .string(1...128)), .required("expiresInSeconds", .integer(1...3600)),
    ])
    public var nonce: String
    public var expiresInSeconds: Int64

    public init(nonce: String, expiresInSeconds: Int64) {
        (self.nonce, self.expiresInSeconds) = (nonce, expiresInSeconds)
    }
}

/// Signs in with Apple (`POST /auth/social/apple`). Where the identity is linked to no account, the answer is the token that
/// a phone is verified with.
public struct SignInWithApple: BusRequest {
    public typealias Reply = SocialSignedIn
    public static let type: MessageType = "auth.sign-in-with-apple"
    public static let schema = JSONSchema.object(
        SocialSignedIn.requestMembers + [
            .optional("authorizationCode", .string(1...1024), "Exchanged once, so that deletion can revoke it")
        ])
    public static let rules = SocialSignedIn.rules

    public var identityToken: String
    /// As it was issued.
    public var nonce: String
    public var device: DeviceClaim
    public var authorizationCode: String?

    public init(identityToken: String, nonce: String, device: DeviceClaim, authorizationCode: String? = nil) {
        (self.identityToken, self.nonce, self.device) = (identityToken, nonce, device)
        self.authorizationCode = authorizationCode
    }
}

/// Signs in with Google (`POST /auth/social/google`), as ``SignInWithApple`` does with Apple.
public struct SignInWithGoogle: BusRequest {
    public typealias Reply = SocialSignedIn
    public static let type: MessageType = "auth.sign-in-with-google"
    public static let schema = JSONSchema.object(
        SocialSignedIn.requestMembers + [
            .optional("authorizationCode", .string(1...1024), "Not used: nothing of Google's is kept")
        ])
    public static let rules = SocialSignedIn.rules

    public var identityToken: String
    /// As it was issued.
    public var nonce: String
    public var device: DeviceClaim
    public var authorizationCode: String?

    public init(identityToken: String, nonce: String, device: DeviceClaim, authorizationCode: String? = nil) {
        (self.identityToken, self.nonce, self.device) = (identityToken, nonce, device)
        self.authorizationCode = authorizationCode
    }
}

/// What came of a social sign-in.
public enum SocialSignedIn: PublicReply {
    case session(Session)
    case phoneVerificationRequired(PhoneVerificationRequired)

    /// The identity is linked to no account: a code to a phone, asked for with `linkToken`, links it.
    public struct PhoneVerificationRequired: Codable, Sendable, Equatable {
        public var status = "phone_verification_required"
        public var linkToken: String
        public var expiresInSeconds: Int64

        public init(linkToken: String, expiresInSeconds: Int64) {
            (self.linkToken, self.expiresInSeconds) = (linkToken, expiresInSeconds)
        }
    }

    public static let schema = JSONSchema.anyOf([
        Session.schema,
        .object([
            .required("status", .values("phone_verification_required")), .required("linkToken", .string(1...256)),
            .required("expiresInSeconds", .integer(1...3600)),
        ]),
    ])

    static let requestMembers: [JSONSchema.Member] = [
        .required("identityToken", .string(1...16_384)), .required("nonce", .string(1...256)),
        .required("device", DeviceClaim.schema),
    ]
    static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once,
        errors: [.identityTokenInvalid, .forbidden, .identityProviderUnavailable], replyCarriesToken: true)

    private enum Discriminator: String, CodingKey { case status }

    public init(from decoder: any Decoder) throws {
        let isSession = try !decoder.container(keyedBy: Discriminator.self).contains(.status)
        self =
            isSession
            ? .session(try Session(from: decoder))
            : .phoneVerificationRequired(try PhoneVerificationRequired(from: decoder))
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .session(let session): try session.encode(to: encoder)
        case .phoneVerificationRequired(let answer): try answer.encode(to: encoder)
        }
    }
}
