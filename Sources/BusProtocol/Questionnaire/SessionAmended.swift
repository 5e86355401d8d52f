import JSONText

/// What a completed session came to has changed: an answer was given anew, or it was opened again and completed again. Told
/// once for each snapshot after the first, to profile.
public struct SessionAmended: BusEvent {
    public typealias Reply = Acknowledged
    public static let type: MessageType = "questionnaire.session-amended"
    public static let rules = MessageRules(service: .profile, callers: [.questionnaire], effect: .idempotent)
    public static let schema = JSONSchema.object([
        .required("personID", .uuid),
        .required("personSequence", .integer(0...9_007_199_254_740_991)),
        .required("sessionID", .uuid),
        .required("questionnaire", .string(1...64), "Key of the questionnaire."),
        .required("version", .integer(1...2_147_483_647), "Version of its definition that the session is pinned to."),
        .required("completedAt", .dateTime, "When it was completed, before this or again."),
        .required("amendedAt", .dateTime),
        .required("scores", .any, "By dimension: `{score, answered, of}`, or `{tags, answered, of}`."),
        .optional("extracts", .boolean, "True: some answers stand for fields of the profile, as `get-extracts` tells."),
    ])

    public var personID: Identifier
    public var personSequence: Int64
    public var sessionID: Identifier
    /// Key of the questionnaire: `yoked-compat`.
    public var questionnaire: String
    /// Version of the definition that the session is pinned to.
    public var version: Int64
    /// When it was completed, before this or again.
    public var completedAt: Timestamp
    public var amendedAt: Timestamp
    /// What the answers are summed up into now, by dimension.
    public var scores: JSONValue
    /// `true`: the definition says of some answers that they stand for fields of the profile (``GetExtracts``). Came later and
    /// is optional.
    public var extracts: Bool?

    public init(
        personID: Identifier, personSequence: Int64 = 0, sessionID: Identifier, questionnaire: String, version: Int64,
        completedAt: Timestamp, amendedAt: Timestamp, scores: JSONValue, extracts: Bool? = nil
    ) {
        self.personID = personID
        self.personSequence = personSequence
        self.sessionID = sessionID
        self.questionnaire = questionnaire
        self.version = version
        self.completedAt = completedAt
        self.amendedAt = amendedAt
        self.scores = scores
        self.extracts = extracts
    }
}
