import JSONText

/// A person has answered a questionnaire to its end. Told once for each session, to profile.
@Message
public struct SessionCompleted: BusEvent {
    public typealias Reply = Acknowledged
    public static let type: MessageType = "questionnaire.session-completed"
    public static let rules = MessageRules(service: .profile, callers: [.questionnaire], effect: .idempotent)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    public var sessionID: Identifier
    /// Key of the questionnaire: `yoked-compat`.
    @Field(.string(1...64)) public var questionnaire: String
    /// Version of its definition that the session is pinned to.
    @Field(.integer(1...2_147_483_647)) public var version: Int64
    public var completedAt: Timestamp
    /// By dimension: `{score, answered, of}`, or `{tags, answered, of}`.
    ///
    /// What the answers were summed up into, by dimension.
    public var scores: JSONValue?
    /// True: some answers stand for fields of the profile, as `get-extracts` tells.
    public var extracts: Bool?
}
