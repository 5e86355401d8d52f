import JSONText

/// How much of the questionnaire is answered. It counts the questions that are visible with the person's answers.
/// Screens without a question do not count.
@Message
public struct QuestionnaireProgress: MessageValue {
    /// Questions that were answered, declined, acknowledged or skipped.
    @Field(.integer(0...500)) public var answered: Int64
    /// Visible questions.
    @Field(.integer(0...500)) public var total: Int64
    /// Required questions that still need an answer.
    @Field(.integer(0...500), example: 9) public var requiredRemaining: Int64
    /// Rounded down, so 100 means every question.
    @Field(.integer(0...100)) public var percentage: Int64
}

/// The status of a session; an open set.
public struct SessionStatus: RawRepresentable, MessageValue, Hashable, ExpressibleByStringLiteral {
    public static let schema = JSONSchema.open("in_progress", "completed", "amended", "stopped").named(
        Self.self, "Where a session stands. `amended`: changed after it was completed.")

    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    /// The session is open.
    public static let inProgress: SessionStatus = "in_progress"
    /// The session was completed.
    public static let completed: SessionStatus = "completed"
    /// The session was changed after it was completed.
    public static let amended: SessionStatus = "amended"
    /// The session ended without being completed.
    public static let stopped: SessionStatus = "stopped"
}

/// What a person did with a question; an open set.
public struct AnswerState: RawRepresentable, MessageValue, Hashable, ExpressibleByStringLiteral {
    public static let schema = JSONSchema.open(
        "answered", "skipped", "declined", "acknowledged", "unanswered"
    ).named(Self.self, "What a person did with a question.")

    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    /// The person gave a value.
    public static let answered: AnswerState = "answered"
    /// The person skipped the question.
    public static let skipped: AnswerState = "skipped"
    /// The person prefers not to say.
    public static let declined: AnswerState = "declined"
    /// The person saw the question and left it empty on purpose.
    public static let acknowledged: AnswerState = "acknowledged"
    /// The answer was removed.
    public static let unanswered: AnswerState = "unanswered"
}

/// The current state of one answer.
@Message
public struct AnswerView: MessageValue {
    /// The key of the question.
    @Field(.string(1...64)) public var question: String
    /// What the person did with the question.
    public var state: AnswerState
    /// The value in the canonical form of the question's type, if the state is `answered`.
    public var value: JSONValue?
    /// The number of changes of this answer, from 1.
    @Field(.ordinal) public var revision: Int64
    /// When the answer was last changed.
    public var answeredAt: Timestamp
    /// `true`: an option in the answer is no longer offered, so the question needs a new answer.
    @Field(example: false) public var stale: Bool?
    /// The subject, in a section that repeats.
    public var subject: Identifier?
    /// What the person wants of another person's answer, if the question asks for it.
    public var preference: AnswerPreference?
}
