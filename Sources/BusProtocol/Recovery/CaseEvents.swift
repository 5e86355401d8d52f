import JSONText

/// A recovery case began its hold. Auth keeps the account frozen and does not move it earlier.
///
/// An end before auth's own has no effect.
@Message
public struct CaseOpened: BusEvent {
    public static let type: MessageType = "recovery.case-opened"
    public static let rules = MessageRules(
        service: .auth, callers: [.recovery], effect: .idempotent, delivery: .untilTaken)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// The recovery case.
    public var caseID: Identifier
    /// When the hold ends.
    public var holdUntil: Timestamp
}

/// A recovery case is over. Auth lifts the freeze that it set for the case.
///
/// The event is published twice if the claimant is to learn of it later.
@Message
public struct CaseClosed: BusEvent {
    public static let type: MessageType = "recovery.case-closed"
    public static let rules = MessageRules(
        service: .auth, callers: [.recovery], effect: .idempotent, delivery: .untilTaken)

    /// The account, or the case if there is no account.
    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// The recovery case.
    public var caseID: Identifier
    /// `completed`, `disputed`, `cancelled`, `rejected` or `expired`; an open set.
    @Field(.string(1...32)) public var outcome: String
    /// When the case was closed.
    public var closedAt: Timestamp
    /// The claimant still sees an open case. The claimant's number opens no account until the second event.
    public var claimantWaits: Bool?
}
