import JSONText

/// The outcome of a notification on one device.
@Message
public struct NotificationDelivered: BusEvent {
    public static let type: MessageType = "auth.notification-delivered"
    public static let rules = MessageRules(service: .recovery, callers: [.auth], effect: .idempotent)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// The notification.
    public var notificationID: Identifier
    /// The device.
    public var deviceID: Identifier
    /// `delivered` (the push provider accepted it) or `failed` (the attempts ended); an open set.
    @Field(.string(1...32)) public var outcome: String
    /// When the outcome was known.
    public var at: Timestamp
}
