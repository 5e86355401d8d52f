import JSONText

/// Exchanges a code for a session. A phone without an account gets one.
@Message
public struct VerifyOTP: PublicRequest {
    public typealias Reply = Session
    public static let type: MessageType = "auth.verify-otp"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once,
        errors: [
            .otpInvalid, .otpExpired, .otpLocked, .forbidden, .linkConfirmationRequired, .linkTokenExpired,
            .identityInUse,
            .providerAlreadyLinked, .accountFrozen, .recoveryRequired, .recoveryInProgress, .methodNotAvailable,
            .appUnknown, .entryUnknown,
        ],
        replyCarriesToken: true)
    public static let route = HTTPRoute(
        .post, "/auth/otp/verify", .public, "Trades a code for a session.", hidesItsTime: true)

    /// The challenge that the code belongs to.
    public var challengeId: Identifier
    /// The code that the person received.
    @Field(.otp) public var code: String
    /// The device that signs in.
    public var device: DeviceClaim
    /// The person confirms that the identity of the challenge's link token is linked to an existing account.
    public var confirmLink: Bool?
    /// The number's account is not this person's. If that account is dormant, the number gets a new one.
    public var newAccount: Bool?
    /// The client's own name for the visitor in `POST /events` before the sign-in.
    @Field(.string(1...64)) public var anonymousId: String?
    /// The publishable key of the app that the person signs in to; missing for the default app.
    @Field(.publishableKey) public var app: String?
    /// How the person came to the app, such as an invitation or a campaign: a key that the app's plan knows.
    @Field(.publishableKey) public var entry: String?
}

/// A person is signed in on a device.
@Message
public struct Session: PublicReply {
    /// Goes into `Authorization` of each request.
    @Field(.string(1...2048)) public var accessToken: String
    /// The kind of access token (RFC 6750).
    @Field(.values("Bearer"), example: "Bearer") public var tokenType: String = "Bearer"
    /// How long the access token is valid.
    @Field(.integer(1...86_400), example: 900) public var expiresInSeconds: Int64
    /// Exchanged for a new pair of tokens.
    @Field(.string(1...128)) public var refreshToken: String
    /// The session.
    public var sessionId: Identifier
    /// The device that the session is on.
    public var deviceId: Identifier
    /// Proves the device. It is sent only with the device's first session.
    @Field(.string(1...128)) public var deviceSecret: String?
    /// Whether the account was created by this sign-in.
    public var isNewUser: Bool
    /// The person.
    public var user: User
    /// What Apple or Google says of a new person. Missing if the provider says nothing.
    public var prefill: SignInPrefill?

    /// The person who is signed in.
    @Message
    public struct User: MessageValue {
        /// The person.
        public var id: Identifier
        /// `null` if profile did not answer in time.
        @Field(.nullable(.onboardingStatus), writesNull: true) public var onboardingStatus: String?
    }
}
