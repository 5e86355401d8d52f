import JSONText

/// Gives an account back the number that was taken off it within 72 hours: by the token of the SMS
/// that told of it, or by a challenge for that number which `undoes` the change, and on a device that was known before.
///
/// What the account came to have since then, and in the three days before, goes: sessions, devices and linked identities; no
/// such device takes the change back. `not_found` is also a number of which nothing can be taken back (any more).
@Message
public struct UndoPhoneChange: PublicRequest {
    public typealias Reply = PhoneChanged
    public static let type: MessageType = "auth.undo-phone-change"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once,
        errors: [
            .validationFailed, .unauthorized, .forbidden, .notFound, .otpInvalid, .otpExpired, .otpLocked,
            .accountFrozen, .phoneInUse,
        ])
    public static let route = HTTPRoute(
        .post, "/auth/phone/undo", .anybody, "Takes back a change of the phone, for 72 hours.", carriesToken: true,
        hidesItsTime: true)

    /// Of the SMS to the number; instead of a code.
    @Field(.string(1...128)) public var disputeToken: String?
    /// Of a challenge for the number that `undoes` a `phone_change`.
    public var challengeId: Identifier?
    @Field(.otp) public var code: String?
    /// Known before the change; without it the access token's own.
    public var device: SendOTP.Proof?
}
