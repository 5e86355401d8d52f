import JSONText

/// A recovery was begun in auth. Recovery makes its case from this event where the reply to ``BeginRecovery`` was lost.
@Message
public struct RecoveryBegan: BusEvent {
    public static let type: MessageType = "auth.recovery-began"
    public static let rules = MessageRules(
        service: .recovery, callers: [.auth], effect: .idempotent, delivery: .untilTaken)

    /// The account, or the case where there is no account.
    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    public var begun: RecoveryBegun
}
