import JSONText

/// A person was shown a questionnaire's questions for the first time, or again after a session was stopped. Told once for
/// each session, to profile.
public struct SessionOpened: BusEvent {
    public typealias Reply = Acknowledged
    public static let type: MessageType = "questionnaire.session-opened"
    public static let rules = MessageRules(service: .profile, callers: [.questionnaire], effect: .idempotent)
    public static let schema = JSONSchema.object([
        .required("personID", .uuid),
        .required("personSequence", .integer(0...9_007_199_254_740_991)),
        .required("sessionID", .uuid),
        .required("questionnaire", .string(1...64), "Key of the questionnaire."),
        .required("version", .integer(1...2_147_483_647), "Version of its definition that the session is pinned to."),
        .required("openedAt", .dateTime),
    ])

    public var personID: Identifier
    public var personSequence: Int64
    public var sessionID: Identifier
    /// Key of the questionnaire: `yoked-compat`.
    public var questionnaire: String
    /// Version of the definition that the session is pinned to.
    public var version: Int64
    public var openedAt: Timestamp

    public init(
        personID: Identifier, personSequence: Int64 = 0, sessionID: Identifier, questionnaire: String, version: Int64,
        openedAt: Timestamp
    ) {
        self.personID = personID
        self.personSequence = personSequence
        self.sessionID = sessionID
        self.questionnaire = questionnaire
        self.version = version
        self.openedAt = openedAt
    }
}
