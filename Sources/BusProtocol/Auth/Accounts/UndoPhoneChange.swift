import JSONText

/// Gives an account back the number that it lost within the last 72 hours.
///
/// Either the token of the SMS that reported the change proves the number, or a challenge for that number that `undoes`
/// the change. The device must have been known before the change.
///
/// Sessions, devices and linked identities that the account got since the change or in the three days before it are
/// removed. A device of that time cannot undo the change. `not_found` also means that nothing can be undone for the
/// number, or no longer.
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

    /// The token of the SMS to the former number, or of the email about the first number, instead of a code.
    @Field(.string(1...128), inExamples: false) public var disputeToken: String?
    /// A challenge that `undoes` a `phone_change`: for the former number, or for the email address of an account that had no
    /// number before.
    public var challengeId: Identifier?
    /// The code of that challenge.
    @Field(.otp) public var code: String?
    /// A device that was known before the change; by default the device of the access token.
    public var device: SendOTP.Proof?
}
