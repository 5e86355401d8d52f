import JSONText

/// Trades a code for a session; a phone without an account gets one.
@Message
public struct VerifyOTP: PublicRequest {
    public typealias Reply = Session
    public static let type: MessageType = "auth.verify-otp"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once,
        errors: [
            .otpInvalid, .otpExpired, .otpLocked, .forbidden, .linkConfirmationRequired, .linkTokenExpired,
            .identityInUse,
            .providerAlreadyLinked, .accountFrozen, .recoveryRequired, .recoveryInProgress,
        ],
        replyCarriesToken: true)
    public static let route = HTTPRoute(
        .post, "/auth/otp/verify", .public, "Trades a code for a session.", hidesItsTime: true)

    public var challengeId: Identifier
    @Field(.otp) public var code: String
    public var device: DeviceClaim
    /// The identity of the challenge's link token is to be linked to an account that exists already.
    public var confirmLink: Bool?
    /// The account that the number has is not this person's: where it slept for long, the number gets a new one.
    public var newAccount: Bool?
    @Field(.string(1...64)) public var anonymousId: String?
}

/// A person is signed in on a device.
@Message
public struct Session: PublicReply {
    @Field(.string(1...2048)) public var accessToken: String
    @Field(.values("Bearer")) public var tokenType: String = "Bearer"
    @Field(.integer(1...86_400)) public var expiresInSeconds: Int64
    @Field(.string(1...128)) public var refreshToken: String
    public var sessionId: Identifier
    public var deviceId: Identifier
    /// The first time on a device only.
    @Field(.string(1...128)) public var deviceSecret: String?
    public var isNewUser: Bool
    public var user: User

    @Message
    public struct User: MessageValue {
        public var id: Identifier
        /// `null` where profile did not answer in time.
        @Field(.nullable(.string(1...32)), writesNull: true) public var onboardingStatus: String?
    }
}
