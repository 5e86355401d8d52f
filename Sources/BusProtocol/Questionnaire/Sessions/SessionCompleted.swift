import JSONText

/// A person completed a questionnaire. It is published once for each session.
@Message
public struct SessionCompleted: BusEvent {
    public typealias Reply = Acknowledged
    public static let type: MessageType = "questionnaire.session-completed"
    public static let rules = MessageRules(service: .profile, callers: [.questionnaire], effect: .idempotent)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// The session.
    public var sessionID: Identifier
    /// The key of the questionnaire.
    @Field(.string(1...64)) public var questionnaire: String
    /// The version of the definition that the session uses.
    @Field(.integer(1...2_147_483_647)) public var version: Int64
    /// When the session was completed.
    public var completedAt: Timestamp
    /// The scores by dimension: `{score, answered, of}` or `{tags, answered, of}`.
    public var scores: JSONValue?
    /// True: some answers fill fields of the profile. `get-extracts` returns them.
    public var extracts: Bool?
}
