import JSONText

/// A session was opened, so the person saw the questions for the first time, or again after a stopped session.
///
/// It is published once for each session.
@Message
public struct SessionOpened: BusEvent {
    public typealias Reply = Acknowledged
    public static let type: MessageType = "questionnaire.session-opened"
    public static let rules = MessageRules(service: .profile, callers: [.questionnaire], effect: .idempotent)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// The session.
    public var sessionID: Identifier
    /// The key of the questionnaire.
    @Field(.string(1...64)) public var questionnaire: String
    /// The version of the definition that the session uses.
    @Field(.integer(1...2_147_483_647)) public var version: Int64
    /// When the session was opened.
    public var openedAt: Timestamp
}
