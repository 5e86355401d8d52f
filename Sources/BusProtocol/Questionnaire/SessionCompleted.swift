import JSONText

/// A person has answered a questionnaire to its end. Told once for each session, to profile.
public struct SessionCompleted: BusEvent {
    public typealias Reply = Acknowledged
    public static let type: MessageType = "questionnaire.session-completed"
    public static let rules = MessageRules(service: .profile, callers: [.questionnaire], effect: .idempotent)
    public static let schema = JSONSchema.object([
        .required("personID", .uuid),
        .required("personSequence", .integer(0...9_007_199_254_740_991)),
        .required("sessionID", .uuid),
        .required("questionnaire", .string(1...64), "Key of the questionnaire."),
        .required("version", .integer(1...2_147_483_647), "Version of its definition that the session is pinned to."),
        .required("completedAt", .dateTime),
        .optional("scores", .any, "By dimension: `{score, answered, of}`, or `{tags, answered, of}`."),
        .optional("extracts", .boolean, "True: some answers stand for fields of the profile, as `get-extracts` tells."),
    ])

    public var personID: Identifier
    public var personSequence: Int64
    public var sessionID: Identifier
    /// Key of the questionnaire: `yoked-compat`.
    public var questionnaire: String
    /// Version of the definition that the session is pinned to.
    public var version: Int64
    public var completedAt: Timestamp
    /// What the answers were summed up into, by dimension. Came later and is optional.
    public var scores: JSONValue?
    /// `true`: the definition says of some answers that they stand for fields of the profile (``GetExtracts``). Came later and
    /// is optional.
    public var extracts: Bool?

    public init(
        personID: Identifier, personSequence: Int64 = 0, sessionID: Identifier, questionnaire: String, version: Int64,
        completedAt: Timestamp, scores: JSONValue? = nil, extracts: Bool? = nil
    ) {
        self.personID = personID
        self.personSequence = personSequence
        self.sessionID = sessionID
        self.questionnaire = questionnaire
        self.version = version
        self.completedAt = completedAt
        self.scores = scores
        self.extracts = extracts
    }
}
