import JSONText

/// Exchanges a code that came by email for a session. An address without an account gets one.
///
/// The reply asks for a phone first if the app wants one of everybody and the account has none.
@Message
public struct VerifyEmailCode: PublicRequest {
    public typealias Reply = SocialSignedIn
    public static let type: MessageType = "auth.verify-email-code"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once,
        errors: [
            .otpInvalid, .otpExpired, .otpLocked, .forbidden, .methodNotAvailable, .appUnknown, .entryUnknown,
            .recoveryInProgress,
        ], replyCarriesToken: true)
    public static let route = HTTPRoute(
        .post, "/auth/email/verify", .public, "Trades a code from an email for a session.", hidesItsTime: true)

    /// The challenge that the code belongs to.
    public var challengeId: Identifier
    /// The code that the person received.
    @Field(.otp) public var code: String
    /// The device that signs in.
    public var device: DeviceClaim
    /// The client's own name for the visitor in `POST /events` before the sign-in.
    @Field(.string(1...64)) public var anonymousId: String?
    /// The publishable key of the app that the person signs in to; missing for the default app.
    @Field(.publishableKey, inExamples: true) public var app: String?
    /// How the person came to the app, such as an invitation or a campaign: a key that the app's plan knows.
    @Field(.publishableKey) public var entry: String?
}
