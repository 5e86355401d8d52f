import JSONText

/// The acting person's compatibility questionnaire, with what is answered so far; opens the session where there is none.
///
/// Handled by QuestionnaireService, behind `GET /compatibility/questions`. The person is the request's actor.
public struct GetQuestions: BusRequest {
    public typealias Reply = QuestionsView
    public static let type: MessageType = "questionnaire.get-questions"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public static let schema = JSONSchema.object([
        .optional("acceptLanguage", .string(0...1000), "The languages that the person would rather read (RFC 9110).")
    ])

    /// The languages that the person would rather read, as the header `Accept-Language` has them; `nil`: the default one.
    public var acceptLanguage: String?

    public init(acceptLanguage: String? = nil) { self.acceptLanguage = acceptLanguage }
}

/// A questionnaire as one person sees it: the version that the session is pinned to.
public struct QuestionsView: PublicReply {
    public static let schema = JSONSchema.object([
        .required("questionnaire", QuestionnaireReference.schema),
        .required("sessionId", .uuid),
        .required("status", SessionStatus.schema),
        .required("questions", .array(of: QuestionView.schema, count: 0...500), "Every question, in order."),
        .required("answers", .array(of: AnswerView.schema, count: 0...10_000), "What is answered, in question order."),
        .required("progress", QuestionnaireProgress.schema),
        .required("nextQuestion", .nullable(.string(1...64)), "Where to go on; null when nothing is left."),
        .optional("language", .string(2...35), "Of the texts: a tag of RFC 5646."),
    ])

    public var questionnaire: QuestionnaireReference
    public var sessionId: Identifier
    public var status: SessionStatus
    public var questions: [QuestionView]
    public var answers: [AnswerView]
    public var progress: QuestionnaireProgress
    /// Key of the first visible question without an answer; `nil` when nothing is left.
    public var nextQuestion: String?
    /// Of the texts: a tag of RFC 5646.
    public var language: String?

    public init(
        questionnaire: QuestionnaireReference, sessionId: Identifier, status: SessionStatus, questions: [QuestionView],
        answers: [AnswerView], progress: QuestionnaireProgress, nextQuestion: String?, language: String? = nil
    ) {
        self.questionnaire = questionnaire
        self.sessionId = sessionId
        self.status = status
        self.questions = questions
        self.answers = answers
        self.progress = progress
        self.nextQuestion = nextQuestion
        self.language = language
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(questionnaire, forKey: .questionnaire)
        try container.encode(sessionId, forKey: .sessionId)
        try container.encode(status, forKey: .status)
        try container.encode(questions, forKey: .questions)
        try container.encode(answers, forKey: .answers)
        try container.encode(progress, forKey: .progress)
        // Written as null, too: a client tells "finished" from "left out".
        try container.encode(nextQuestion, forKey: .nextQuestion)
        try container.encodeIfPresent(language, forKey: .language)
    }
}

/// Which definition a session is pinned to.
public struct QuestionnaireReference: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("key", .string(1...64)),
        .required("version", .integer(1...2_147_483_647)),
        .required("hash", .string(64...64), "SHA-256 of the canonical definition, in hexadecimal digits."),
        .required("title", .string(1...200)),
    ])

    public var key: String
    public var version: Int64
    /// SHA-256 of the canonical definition, 64 hexadecimal digits.
    public var hash: String
    public var title: String

    public init(key: String, version: Int64, hash: String, title: String) {
        (self.key, self.version, self.hash, self.title) = (key, version, hash, title)
    }
}
