import JSONText

/// A recovery case began its hold; auth keeps the account frozen for it, and moves it no earlier. An earlier end than auth's
/// own changes nothing.
public struct CaseOpened: BusEvent {
    public static let type: MessageType = "recovery.case-opened"
    public static let schema = JSONSchema.object([
        .required("personID", .uuid), .required("personSequence", .integer(0...9_007_199_254_740_991)),
        .required("caseID", .uuid), .required("holdUntil", .dateTime),
    ])
    public static let rules = MessageRules(service: .auth, callers: [.recovery], effect: .idempotent)

    public var personID: Identifier
    public var personSequence: Int64
    public var caseID: Identifier
    public var holdUntil: Timestamp

    public init(personID: Identifier, personSequence: Int64 = 0, caseID: Identifier, holdUntil: Timestamp) {
        self.personID = personID
        self.personSequence = personSequence
        self.caseID = caseID
        self.holdUntil = holdUntil
    }
}

/// A recovery case is over; auth lifts the freeze that it wrote for it. Told twice where the claimant is to know it later.
public struct CaseClosed: BusEvent {
    public static let type: MessageType = "recovery.case-closed"
    public static let schema = JSONSchema.object([
        .required("personID", .uuid), .required("personSequence", .integer(0...9_007_199_254_740_991)),
        .required("caseID", .uuid), .required("outcome", .string(1...32)), .required("closedAt", .dateTime),
        .optional("claimantWaits", .boolean),
    ])
    public static let rules = MessageRules(service: .auth, callers: [.recovery], effect: .idempotent)

    /// The account, or the case where there is none.
    public var personID: Identifier
    public var personSequence: Int64
    public var caseID: Identifier
    /// `completed`, `disputed`, `cancelled`, `rejected` or `expired`; an open set.
    public var outcome: String
    public var closedAt: Timestamp
    /// The claimant is shown an open case still, and their number opens no account before it is told again.
    public var claimantWaits: Bool?

    public init(
        personID: Identifier, personSequence: Int64 = 0, caseID: Identifier, outcome: String, closedAt: Timestamp,
        claimantWaits: Bool? = nil
    ) {
        self.personID = personID
        self.personSequence = personSequence
        self.caseID = caseID
        self.outcome = outcome
        self.closedAt = closedAt
        self.claimantWaits = claimantWaits
    }
}
