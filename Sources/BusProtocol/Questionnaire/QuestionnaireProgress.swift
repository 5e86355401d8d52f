import JSONText

/// How far a person is, counted over the questions that are visible for the person's answers; screens that only inform
/// are not counted.
@Message
public struct QuestionnaireProgress: MessageValue {
    /// Answered, declined, acknowledged or skipped.
    @Field(.integer(0...500)) public var answered: Int64
    @Field(.integer(0...500)) public var total: Int64
    /// Required questions that still want an answer.
    @Field(.integer(0...500)) public var requiredRemaining: Int64
    /// 100 only when every question is dealt with.
    ///
    /// Rounded down, so that 100 means all of them.
    @Field(.integer(0...100)) public var percentage: Int64
}

/// Where a session stands: `in_progress`, `completed`, `amended` (changed after it was completed) or `stopped`
/// (ended for good without being completed). An open set.
public struct SessionStatus: RawRepresentable, MessageValue, Hashable, ExpressibleByStringLiteral {
    public static let schema = JSONSchema.string(1...32)

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
public struct AnswerState: RawRepresentable, MessageValue, Hashable, ExpressibleByStringLiteral {
    public static let schema = JSONSchema.string(1...32)

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
@Message
public struct AnswerView: MessageValue {
    @Field(.string(1...64)) public var question: String
    public var state: AnswerState
    /// Where the state is `answered`, in the canonical form of the question's type.
    public var value: JSONValue?
    /// Counts the changes of this answer, from 1.
    @Field(.ordinal) public var revision: Int64
    /// When it was changed last.
    public var answeredAt: Timestamp
    /// `true`: an option in it is not offered any more, so the question wants an answer.
    public var stale: Bool?
    /// Whom it is about, in a section that repeats.
    public var subject: Identifier?
    /// What one wants of another person's answer, where the question asks for it.
    public var preference: AnswerPreference?
}
