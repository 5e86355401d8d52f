import JSONText

/// Gives an account back the number that was taken off it within 72 hours (`POST /auth/phone/undo`): by the token of the SMS
/// that told of it, or by a challenge for that number which `undoes` the change, and on a device that was known before.
///
/// What the account came to have since then, and in the three days before, goes: sessions, devices and linked identities; no
/// such device takes the change back. `not_found` is also a number of which nothing can be taken back (any more).
public struct UndoPhoneChange: BusRequest {
    public typealias Reply = PhoneChanged
    public static let type: MessageType = "auth.undo-phone-change"
    public static let schema = JSONSchema.object([
        .optional("disputeToken", .string(1...128), "Of the SMS to the number; instead of a code"),
        .optional("challengeId", .uuid, "Of a challenge for the number that `undoes` a `phone_change`"),
        .optional("code", .string(.init(length: 6...6, format: .otp))),
        .optional(
            "device", .object([.required("id", .uuid), .required("secret", .string(1...128))]),
            "Known before the change; without it the access token's own"),
    ])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once,
        errors: [
            .validationFailed, .unauthorized, .forbidden, .notFound, .otpInvalid, .otpExpired, .otpLocked,
            .accountFrozen, .phoneInUse,
        ])

    public var disputeToken: String?
    public var challengeId: Identifier?
    public var code: String?
    public var device: SendOTP.Proof?

    public init(
        disputeToken: String? = nil, challengeId: Identifier? = nil, code: String? = nil, device: SendOTP.Proof? = nil
    ) {
        self.disputeToken = disputeToken
        self.challengeId = challengeId
        self.code = code
        self.device = device
    }
}
