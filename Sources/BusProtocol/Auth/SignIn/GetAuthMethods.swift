import JSONText

/// Lists the ways to sign in to an app, so that it shows no other.
@Message
public struct GetAuthMethods: PublicRequest {
    public typealias Reply = AuthMethods
    public static let type: MessageType = "auth.get-methods"
    public static let rules = MessageRules(service: .auth, callers: [.gateway], effect: .read, errors: [.appUnknown])
    public static let route = HTTPRoute(.get, "/auth/methods", .public, "Lists the ways to sign in.")

    /// The publishable key of the app; missing for the default app.
    @Field(.publishableKey, from: .query("app")) public var app: String?
}

/// The answer to ``GetAuthMethods``, in the order in which an app may offer them.
@Message
public struct AuthMethods: PublicReply {
    /// The ways. Each appears once.
    @Field(count: 0...16) public var methods: [AuthMethod]
}

/// One way to sign in.
@Message
public struct AuthMethod: MessageValue {
    /// The way. Later releases may have more: leave out a way that the app does not know.
    @Field(.open("phone", "email", "apple", "google")) public var key: String
    /// What proves it: a code that is sent to the person, or an identity token of the provider.
    @Field(.open("code", "identity_token")) public var proof: String
    /// The number of digits in a code.
    @Field(.integer(1...16)) public var codeLength: Int64?
    /// How long a code is valid.
    @Field(.integer(1...3600)) public var expiresInSeconds: Int64?
    /// How long the person waits before they can request another code, if no other limit applies.
    @Field(.integer(0...3600)) public var resendAfterSeconds: Int64?
    /// The countries whose numbers get codes, sorted: ISO 3166-1 alpha-2, and `AC`, `TA` and `XK`.
    @Field(.string(2...2), count: 0...300, example: "SE") public var countries: [String]?
}
