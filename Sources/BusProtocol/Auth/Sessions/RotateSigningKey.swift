import JSONText

/// Has auth sign access tokens with a new key (`vestibule keys rotate-signing`). The key is published at once and signs as
/// soon as every gateway knows it; while one waits for that, it is the answer and no other is made.
@Message
public struct RotateSigningKey: BusRequest {
    public typealias Reply = SigningKeyRotated
    public static let type: MessageType = "auth.rotate-signing-key"
    public static let rules = MessageRules(service: .auth, callers: [.operator], effect: .idempotent)
}

/// The answer to ``RotateSigningKey``.
@Message
public struct SigningKeyRotated: BusReply {
    @Field(.string(1...64)) public var kid: String
    public var signsFrom: Timestamp
}
