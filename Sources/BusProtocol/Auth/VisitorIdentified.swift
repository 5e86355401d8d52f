import JSONText

/// Who a client called by a name of its own before the sign-in is this person.
public struct VisitorIdentified: BusEvent {
    public static let type: MessageType = "auth.visitor-identified"
    public static let schema = JSONSchema.object([
        .required("personID", .uuid), .required("personSequence", .integer(0...9_007_199_254_740_991)),
        .required("anonymousID", .string(1...64)),
    ])
    public static let rules = MessageRules(service: .profile, callers: [.auth], effect: .idempotent)

    public var personID: Identifier
    public var personSequence: Int64
    public var anonymousID: String

    public init(personID: Identifier, personSequence: Int64 = 0, anonymousID: String) {
        (self.personID, self.personSequence, self.anonymousID) = (personID, personSequence, anonymousID)
    }
}
