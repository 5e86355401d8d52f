import JSONText

/// Makes a new key that signs access tokens (`vestibule keys rotate-signing`).
///
/// The key is published at once, and signs as soon as every gateway knows it. While a key waits for that, the reply
/// names it and no other key is made.
@Message
public struct RotateSigningKey: BusRequest {
    public typealias Reply = SigningKeyRotated
    public static let type: MessageType = "auth.rotate-signing-key"
    public static let rules = MessageRules(service: .auth, callers: [.operator], effect: .idempotent)
}

/// The answer to ``RotateSigningKey``.
@Message
public struct SigningKeyRotated: BusReply {
    /// The ID of the key.
    @Field(.string(1...64)) public var kid: String
    /// When the key starts to sign.
    public var signsFrom: Timestamp
}
