import JSONText

/// Gives the account the phone that a `change_phone` challenge of the same session proved (`POST /auth/phone/change`). The
/// number that it had stays its recovery alias for 90 days.
public struct ChangePhone: BusRequest {
    public typealias Reply = PhoneChanged
    public static let type: MessageType = "auth.change-phone"
    public static let schema = JSONSchema.object([
        .required("challengeId", .uuid), .required("code", .string(.init(length: 6...6, format: .otp))),
    ])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once,
        errors: [
            .unauthorized, .otpInvalid, .otpExpired, .otpLocked, .reauthenticationRequired, .accountFrozen, .phoneInUse,
        ])

    public var challengeId: Identifier
    public var code: String
    public init(challengeId: Identifier, code: String) { (self.challengeId, self.code) = (challengeId, code) }
}

/// The answer to ``ChangePhone``.
public struct PhoneChanged: PublicReply {
    public static let schema = JSONSchema.object([.required("maskedPhone", .string(1...64))])
    /// The number that the account has now.
    public var maskedPhone: String
    public init(maskedPhone: String) { self.maskedPhone = maskedPhone }
}
