import JSONText

/// Saves answers of the acting person, all of one request in one transaction, and completes the session where asked.
///
/// Handled by QuestionnaireService, behind `POST /compatibility/responses`. Saving the same again changes nothing. A
/// request that completes too early is refused with `questionnaire_incomplete`, and its answers are saved all the same
/// (`executed` is `yes`): nothing that a person has answered is lost.
public struct SubmitResponses: BusRequest {
    public typealias Reply = ResponsesSubmitted
    public static let type: MessageType = "questionnaire.submit-responses"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [
            .unauthorized, .notFound, .validationFailed, .questionnaireIncomplete, .answerConflict, .mutationIDReused,
            .versionClosed, .sessionStopped,
        ])
    public static let schema = JSONSchema.object([
        .optional("sessionId", .uuid, "The person's current session where it is missing."),
        .required("answers", .array(of: ResponseItem.schema, count: 0...100), "Saved in this order."),
        .optional("complete", .boolean, "Close the session when these are saved."),
    ])

    /// The person's current session where it is missing.
    public var sessionId: Identifier?
    public var answers: [ResponseItem]
    /// Close the session when these are saved.
    public var complete: Bool?

    public init(sessionId: Identifier? = nil, answers: [ResponseItem], complete: Bool? = nil) {
        (self.sessionId, self.answers, self.complete) = (sessionId, answers, complete)
    }
}

/// What a person did with one question: a value, or a state that has none.
public struct ResponseItem: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("question", .string(1...64), "Key of the question."),
        .optional("subject", .uuid, "Whom it is about, in a section that repeats."),
        .optional("value", .any, "In the form of the question's type."),
        .optional("state", .values("answered", "skipped", "declined", "acknowledged"), "`answered` where missing."),
        .optional("mutationId", .uuid, "Makes the write safe to repeat, also after later writes."),
        .optional(
            "baseRevision", .integer(0...9_007_199_254_740_991), "Revision of this answer that the client saw; 0: none."
        ),
        .optional("clientTime", .dateTime, "When the person answered."),
        SessionMembers.device, SessionMembers.force, SessionMembers.preference,
    ])

    /// Key of the question.
    public var question: String
    /// Whom it is about, in a section that repeats.
    public var subject: Identifier?
    /// In the form of the question's type.
    public var value: JSONValue?
    /// `answered` where it is missing.
    public var state: AnswerState?
    /// Makes the write safe to repeat, also after later writes.
    public var mutationId: Identifier?
    /// Revision of this answer that the client saw; 0: it saw none.
    public var baseRevision: Int64?
    /// When the person answered, by the client's clock.
    public var clientTime: Timestamp?
    /// What the person calls the device that writes; a conflict tells it. Came later and is optional.
    public var device: String?
    /// `true`: written although the answer is not at ``baseRevision`` any more. Came later and is optional.
    public var force: Bool?
    /// What one wants of another person's answer, where the question asks for it. Came later and is optional.
    public var preference: AnswerPreference?

    public init(
        question: String, subject: Identifier? = nil, value: JSONValue? = nil, state: AnswerState? = nil,
        mutationId: Identifier? = nil, baseRevision: Int64? = nil, clientTime: Timestamp? = nil,
        device: String? = nil, force: Bool? = nil, preference: AnswerPreference? = nil
    ) {
        self.question = question
        self.subject = subject
        self.value = value
        self.state = state
        self.mutationId = mutationId
        self.baseRevision = baseRevision
        self.clientTime = clientTime
        (self.device, self.force) = (device, force)
        self.preference = preference
    }
}

/// The session after the answers were saved.
public struct ResponsesSubmitted: PublicReply {
    public static let schema = JSONSchema.object([
        .required("sessionId", .uuid),
        .required("status", SessionStatus.schema),
        .required("progress", QuestionnaireProgress.schema),
        .required("nextQuestion", .nullable(.string(1...64)), "Where to go on; null when nothing is left."),
        .required("answers", .array(of: AnswerRevision.schema, count: 0...100), "One for each answer sent, in order."),
        .optional("shown", changes, "Questions that are asked now and were not before."),
        .optional("hidden", changes, "Questions that are not asked any more; their answers are kept."),
        .optional("stale", changes, "Questions whose answer has an option in it that is not offered any more."),
    ])

    private static let changes = JSONSchema.array(of: .string(1...64), count: 1...500)

    public var sessionId: Identifier
    public var status: SessionStatus
    public var progress: QuestionnaireProgress
    /// Key of the first visible question without an answer; `nil` when nothing is left.
    public var nextQuestion: String?
    /// One for each answer of the request, in its order.
    public var answers: [AnswerRevision]
    /// Keys of questions that are asked since this request, in order; `nil`: none.
    public var shown: [String]?
    /// Keys of questions that are not asked any more, in order; their answers are kept. `nil`: none.
    public var hidden: [String]?
    /// Keys of questions whose answer is none since this request, as an option in it is not offered any more. `nil`: none.
    public var stale: [String]?

    public init(
        sessionId: Identifier, status: SessionStatus, progress: QuestionnaireProgress, nextQuestion: String?,
        answers: [AnswerRevision], shown: [String]? = nil, hidden: [String]? = nil, stale: [String]? = nil
    ) {
        self.sessionId = sessionId
        self.status = status
        self.progress = progress
        self.nextQuestion = nextQuestion
        self.answers = answers
        (self.shown, self.hidden, self.stale) = (shown, hidden, stale)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(sessionId, forKey: .sessionId)
        try container.encode(status, forKey: .status)
        try container.encode(progress, forKey: .progress)
        // Written as null, too: a client tells "finished" from "left out".
        try container.encode(nextQuestion, forKey: .nextQuestion)
        try container.encode(answers, forKey: .answers)
        try container.encodeIfPresent(shown, forKey: .shown)
        try container.encodeIfPresent(hidden, forKey: .hidden)
        try container.encodeIfPresent(stale, forKey: .stale)
    }
}

/// The revision that a write left its answer at: the `baseRevision` of the next write.
public struct AnswerRevision: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("question", .string(1...64)),
        .required("revision", .integer(1...9_007_199_254_740_991)),
        .optional("subject", .uuid, "Whom it is about, in a section that repeats."),
    ])

    public var question: String
    public var revision: Int64
    /// Whom it is about, in a section that repeats. Came later and is optional.
    public var subject: Identifier?

    public init(question: String, revision: Int64, subject: Identifier? = nil) {
        (self.question, self.revision, self.subject) = (question, revision, subject)
    }
}
