import JSONText

/// A person was shown a questionnaire's questions for the first time, or again after a session was stopped. Told once for
/// each session, to profile.
@Message
public struct SessionOpened: BusEvent {
    public typealias Reply = Acknowledged
    public static let type: MessageType = "questionnaire.session-opened"
    public static let rules = MessageRules(service: .profile, callers: [.questionnaire], effect: .idempotent)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    public var sessionID: Identifier
    /// Key of the questionnaire: `yoked-compat`.
    @Field(.string(1...64)) public var questionnaire: String
    /// Version of its definition that the session is pinned to.
    @Field(.integer(1...2_147_483_647)) public var version: Int64
    public var openedAt: Timestamp
}
