import JSONText

/// What people did with each question of a version (`GET /admin/questionnaires/{key}/versions/{n}/statistics`), over its
/// newest sessions. Nobody's answers are in it.
public struct GetStatistics: BusRequest {
    public typealias Reply = VersionStatistics
    public static let type: MessageType = "questionnaire.get-statistics"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden, .notFound])
    public static let schema = GetQuestionnaireVersion.schema

    /// Key of the questionnaire.
    public var questionnaire: String
    /// In decimal digits, as it stands in the path.
    public var version: String

    public init(questionnaire: String, version: String) {
        (self.questionnaire, self.version) = (questionnaire, version)
    }
}

/// The answer to ``GetStatistics``.
public struct VersionStatistics: PublicReply {
    public static let schema = JSONSchema.object([
        .required("version", VersionMembers.number),
        .required("sessions", .integer(0...9_007_199_254_740_991), "That were looked at: the newest, 5,000 at most."),
        .required("of", .integer(0...9_007_199_254_740_991), "All of the version."),
        .required("completed", .integer(0...9_007_199_254_740_991), "Of those looked at."),
        .required("questions", .array(of: QuestionStatistics.schema, count: 0...500), "In order."),
    ])

    public var version: Int64
    /// That were looked at: the newest, 5,000 at most.
    public var sessions: Int64
    /// All of the version.
    public var of: Int64
    /// Of those looked at.
    public var completed: Int64
    /// In order.
    public var questions: [QuestionStatistics]

    public init(version: Int64, sessions: Int64, of: Int64, completed: Int64, questions: [QuestionStatistics]) {
        self.version = version
        (self.sessions, self.of, self.completed) = (sessions, of, completed)
        self.questions = questions
    }
}

/// What people did with one question; of a section that repeats, each subject counts.
public struct QuestionStatistics: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("question", .string(1...64)),
        .required("shown", count, "It is asked of so many."),
        .required("answered", count), .required("skipped", count), .required("declined", count),
        .required("acknowledged", count, "Seen, and left empty."),
        .optional(
            "medianSeconds", .number(0...1e9), "From the answer before, in the same session; none after an hour."),
        .required("dropOff", count, "Sessions, open or stopped, of which it is the next."),
    ])

    private static let count = JSONSchema.integer(0...9_007_199_254_740_991)

    public var question: String
    /// It is asked of so many.
    public var shown: Int64 = 0
    public var answered: Int64 = 0
    public var skipped: Int64 = 0
    public var declined: Int64 = 0
    /// Seen, and left empty.
    public var acknowledged: Int64 = 0
    /// From the answer before, in the same session; what took longer than an hour was a pause.
    public var medianSeconds: Double?
    /// Sessions, open or stopped, of which it is the next.
    public var dropOff: Int64 = 0

    public init(question: String) { self.question = question }
}
