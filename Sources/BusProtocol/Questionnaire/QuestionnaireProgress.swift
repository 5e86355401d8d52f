import JSONText

/// How far a person is, counted over the questions that are visible for the person's answers; screens that only inform
/// are not counted.
public struct QuestionnaireProgress: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("answered", .integer(0...500), "Answered, declined, acknowledged or skipped."),
        .required("total", .integer(0...500)),
        .required("requiredRemaining", .integer(0...500), "Required questions that still want an answer."),
        .required("percentage", .integer(0...100), "100 only when every question is dealt with."),
    ])

    /// Answered, declined, acknowledged or skipped.
    public var answered: Int64
    public var total: Int64
    /// Required questions that still want an answer.
    public var requiredRemaining: Int64
    /// Rounded down, so that 100 means all of them.
    public var percentage: Int64

    public init(answered: Int64, total: Int64, requiredRemaining: Int64, percentage: Int64) {
        self.answered = answered
        self.total = total
        self.requiredRemaining = requiredRemaining
        self.percentage = percentage
    }
}

/// Where a session stands: `in_progress`, `completed`, `amended` (changed after it was completed) or `stopped`
/// (ended for good without being completed). An open set.
public struct SessionStatus: RawRepresentable, Codable, Sendable, Hashable, ExpressibleByStringLiteral {
    static let schema = JSONSchema.string(1...32)

    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    public static let inProgress: SessionStatus = "in_progress"
    public static let completed: SessionStatus = "completed"
    public static let amended: SessionStatus = "amended"
    public static let stopped: SessionStatus = "stopped"
}

/// What a person did with a question: `answered`, `skipped`, `declined` ("I would rather not say") or `acknowledged`
/// (seen, and left empty on purpose). An open set.
public struct AnswerState: RawRepresentable, Codable, Sendable, Hashable, ExpressibleByStringLiteral {
    static let schema = JSONSchema.string(1...32)

    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    public static let answered: AnswerState = "answered"
    public static let skipped: AnswerState = "skipped"
    public static let declined: AnswerState = "declined"
    public static let acknowledged: AnswerState = "acknowledged"
    /// Taken back: it had an answer before.
    public static let unanswered: AnswerState = "unanswered"
}

/// One answer as it stands.
public struct AnswerView: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("question", .string(1...64)),
        .required("state", AnswerState.schema),
        .optional("value", .any, "Where the state is `answered`, in the canonical form of the question's type."),
        .required("revision", .integer(1...9_007_199_254_740_991), "Counts the changes of this answer, from 1."),
        .required("answeredAt", .dateTime, "When it was changed last."),
        .optional("stale", .boolean, "True: an option in it is not offered any more, so the question wants an answer."),
        .optional("subject", .uuid, "Whom it is about, in a section that repeats."),
        SessionMembers.preference,
    ])

    public var question: String
    public var state: AnswerState
    /// Where the state is `answered`: the canonical form of the question's type.
    public var value: JSONValue?
    /// Counts the changes of this answer, from 1.
    public var revision: Int64
    /// When it was changed last.
    public var answeredAt: Timestamp
    /// `true`: an option in it is not offered any more, so the question wants an answer.
    public var stale: Bool?
    /// Whom it is about, in a section that repeats. Came later and is optional.
    public var subject: Identifier?
    /// What one wants of another person's answer, where the question asks for it. Came later and is optional.
    public var preference: AnswerPreference?

    public init(
        question: String, state: AnswerState, value: JSONValue?, revision: Int64, answeredAt: Timestamp,
        stale: Bool? = nil, subject: Identifier? = nil, preference: AnswerPreference? = nil
    ) {
        self.question = question
        self.subject = subject
        self.state = state
        self.value = value
        self.revision = revision
        self.answeredAt = answeredAt
        self.stale = stale
        self.preference = preference
    }
}
