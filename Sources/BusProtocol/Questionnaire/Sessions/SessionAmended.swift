import JSONText

/// What a completed session came to has changed: an answer was given anew, or it was opened again and completed again. Told
/// once for each snapshot after the first, to profile.
@Message
public struct SessionAmended: BusEvent {
    public typealias Reply = Acknowledged
    public static let type: MessageType = "questionnaire.session-amended"
    public static let rules = MessageRules(service: .profile, callers: [.questionnaire], effect: .idempotent)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    public var sessionID: Identifier
    /// Key of the questionnaire: `yoked-compat`.
    @Field(.string(1...64)) public var questionnaire: String
    /// Version of its definition that the session is pinned to.
    @Field(.integer(1...2_147_483_647)) public var version: Int64
    /// When it was completed, before this or again.
    public var completedAt: Timestamp
    public var amendedAt: Timestamp
    /// By dimension: `{score, answered, of}`, or `{tags, answered, of}`.
    ///
    /// What the answers are summed up into now, by dimension.
    public var scores: JSONValue
    /// True: some answers stand for fields of the profile, as `get-extracts` tells.
    public var extracts: Bool?
}
