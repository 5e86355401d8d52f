import JSONText

/// A recovery was begun in auth. Recovery makes its case from this event where the reply to ``BeginRecovery`` was lost.
public struct RecoveryBegan: BusEvent {
    public static let type: MessageType = "auth.recovery-began"
    public static let schema = JSONSchema.object([
        .required("personID", .uuid), .required("personSequence", .integer(0...9_007_199_254_740_991)),
        .required("begun", RecoveryBegun.schema),
    ])
    public static let rules = MessageRules(service: .recovery, callers: [.auth], effect: .idempotent)

    /// The account, or the case where there is no account.
    public var personID: Identifier
    public var personSequence: Int64
    public var begun: RecoveryBegun

    public init(personID: Identifier, personSequence: Int64 = 0, begun: RecoveryBegun) {
        self.personID = personID
        self.personSequence = personSequence
        self.begun = begun
    }
}
