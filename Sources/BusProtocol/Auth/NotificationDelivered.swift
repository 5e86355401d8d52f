import JSONText

/// What became of a notification on one device.
public struct NotificationDelivered: BusEvent {
    public static let type: MessageType = "auth.notification-delivered"
    public static let schema = JSONSchema.object([
        .required("personID", .uuid), .required("personSequence", .integer(0...9_007_199_254_740_991)),
        .required("notificationID", .uuid), .required("deviceID", .uuid), .required("outcome", .string(1...32)),
        .required("at", .dateTime),
    ])
    public static let rules = MessageRules(service: .recovery, callers: [.auth], effect: .idempotent)

    public var personID: Identifier
    public var personSequence: Int64
    public var notificationID: Identifier
    public var deviceID: Identifier
    /// `delivered` (taken by the push provider) or `failed` (given up); an open set.
    public var outcome: String
    public var at: Timestamp

    public init(
        personID: Identifier, personSequence: Int64 = 0, notificationID: Identifier, deviceID: Identifier,
        outcome: String, at: Timestamp
    ) {
        self.personID = personID
        self.personSequence = personSequence
        self.notificationID = notificationID
        self.deviceID = deviceID
        self.outcome = outcome
        self.at = at
    }
}
