import JSONText

/// A recovery case began its hold; auth keeps the account frozen for it, and moves it no earlier. An earlier end than auth's
/// own changes nothing.
@Message
public struct CaseOpened: BusEvent {
    public static let type: MessageType = "recovery.case-opened"
    public static let rules = MessageRules(
        service: .auth, callers: [.recovery], effect: .idempotent, delivery: .untilTaken)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    public var caseID: Identifier
    public var holdUntil: Timestamp
}

/// A recovery case is over; auth lifts the freeze that it wrote for it. Told twice where the claimant is to know it later.
@Message
public struct CaseClosed: BusEvent {
    public static let type: MessageType = "recovery.case-closed"
    public static let rules = MessageRules(
        service: .auth, callers: [.recovery], effect: .idempotent, delivery: .untilTaken)

    /// The account, or the case where there is none.
    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    public var caseID: Identifier
    /// `completed`, `disputed`, `cancelled`, `rejected` or `expired`; an open set.
    @Field(.string(1...32)) public var outcome: String
    public var closedAt: Timestamp
    /// The claimant is shown an open case still, and their number opens no account before it is told again.
    public var claimantWaits: Bool?
}
