import JSONText

/// Has auth sign access tokens with a new key (`vestibule keys rotate-signing`). The key is published at once and signs as
/// soon as every gateway knows it; while one waits for that, it is the answer and no other is made.
public struct RotateSigningKey: BusRequest {
    public typealias Reply = SigningKeyRotated
    public static let type: MessageType = "auth.rotate-signing-key"
    public static let schema = JSONSchema.object([])
    public static let rules = MessageRules(service: .auth, callers: [.operator], effect: .idempotent)
    public init() {}
}

/// The answer to ``RotateSigningKey``.
public struct SigningKeyRotated: BusReply {
    public static let schema = JSONSchema.object([.required("kid", .string(1...64)), .required("signsFrom", .dateTime)])
    public var kid: String
    public var signsFrom: Timestamp
    public init(kid: String, signsFrom: Timestamp) { (self.kid, self.signsFrom) = (kid, signsFrom) }
}
