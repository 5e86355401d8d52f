import JSONText

/// A phone was verified for the first time and has an account now.
public struct AccountCreated: BusEvent {
    public static let type: MessageType = "auth.account-created"
    public static let schema = JSONSchema.object([
        .required("personID", .uuid), .required("personSequence", .integer(0...9_007_199_254_740_991)),
        .required("createdAt", .dateTime),
    ])
    public static let rules = MessageRules(service: .profile, callers: [.auth], effect: .idempotent)

    public var personID: Identifier
    public var personSequence: Int64
    public var createdAt: Timestamp

    public init(personID: Identifier, personSequence: Int64 = 0, createdAt: Timestamp) {
        self.personID = personID
        self.personSequence = personSequence
        self.createdAt = createdAt
    }
}
