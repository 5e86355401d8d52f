import JSONText

/// Auth started a recovery. If the reply to ``BeginRecovery`` was lost, recovery makes its case from this event.
@Message
public struct RecoveryBegan: BusEvent {
    public static let type: MessageType = "auth.recovery-began"
    public static let rules = MessageRules(
        service: .recovery, callers: [.auth], effect: .idempotent, delivery: .untilTaken)

    /// The account, or the case if there is no account.
    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// What ``BeginRecovery`` replied.
    public var begun: RecoveryBegun
}
