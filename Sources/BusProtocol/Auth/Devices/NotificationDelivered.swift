import JSONText

/// What became of a notification on one device.
@Message
public struct NotificationDelivered: BusEvent {
    public static let type: MessageType = "auth.notification-delivered"
    public static let rules = MessageRules(service: .recovery, callers: [.auth], effect: .idempotent)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    public var notificationID: Identifier
    public var deviceID: Identifier
    /// `delivered` (taken by the push provider) or `failed` (given up); an open set.
    @Field(.string(1...32)) public var outcome: String
    public var at: Timestamp
}
