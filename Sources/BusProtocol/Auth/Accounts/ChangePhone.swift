import JSONText

/// Gives the account the phone that a `change_phone` challenge of the same session proved. The former number stays a
/// recovery alias of the account for 90 days.
@Message
public struct ChangePhone: PublicRequest {
    public typealias Reply = PhoneChanged
    public static let type: MessageType = "auth.change-phone"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once,
        errors: [
            .unauthorized, .otpInvalid, .otpExpired, .otpLocked, .reauthenticationRequired, .accountFrozen, .phoneInUse,
        ])
    public static let route = HTTPRoute(
        .post, "/auth/phone/change", .user, "Changes the phone of the account.", carriesToken: true)

    /// The `change_phone` challenge.
    public var challengeId: Identifier
    /// The code that the person received.
    @Field(.otp) public var code: String
}

/// The answer to ``ChangePhone``.
@Message
public struct PhoneChanged: PublicReply {
    /// The account's number now, masked; `none` where its first number was taken off.
    @Field(.string(1...64)) public var maskedPhone: String
}
