import JSONText

/// Saves up to 100 answers in order, an offline queue say, each with a result of its own
/// (`POST /questionnaires/{key}/sessions/{id}/answers:batch`): what cannot be saved keeps nothing else from being so.
public struct PutAnswers: BusRequest {
    public typealias Reply = AnswersSaved
    public static let type: MessageType = "questionnaire.put-answers"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .versionClosed, .sessionStopped])
    public static let schema = JSONSchema.object([
        SessionMembers.questionnaire, SessionMembers.session,
        .required("answers", .array(of: QueuedAnswer.schema, count: 1...100), "Saved in this order."),
    ])

    /// Key of the questionnaire.
    public var questionnaire: String
    public var sessionId: Identifier
    public var answers: [QueuedAnswer]

    public init(questionnaire: String, sessionId: Identifier, answers: [QueuedAnswer]) {
        (self.questionnaire, self.sessionId, self.answers) = (questionnaire, sessionId, answers)
    }
}

/// One write of a batch: as ``PutAnswer``, or, with the state `unanswered`, as ``DeleteAnswer``.
public struct QueuedAnswer: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("question", .string(1...64), "Key of the question."),
        .optional("subject", .uuid, "Whom it is about, in a section that repeats."),
        .required("mutationId", .uuid, "Makes the write safe to repeat, also after later writes."),
        .optional(
            "baseRevision", .integer(0...9_007_199_254_740_991), "Revision of this answer that the client saw; 0: none."
        ),
        .required(
            "state", .values("answered", "skipped", "declined", "acknowledged", "unanswered"),
            "`unanswered` takes the answer back."),
        .optional("value", .any, "In the form of the question's type, where the state is `answered`."),
        .optional("clientTime", .dateTime, "When the person answered."),
        SessionMembers.device, SessionMembers.force, SessionMembers.preference,
    ])

    /// Key of the question.
    public var question: String
    /// Whom it is about, in a section that repeats.
    public var subject: Identifier?
    public var mutationId: Identifier
    /// Revision of this answer that the client saw; 0: it saw none.
    public var baseRevision: Int64?
    /// `unanswered` takes the answer back.
    public var state: AnswerState
    /// In the form of the question's type.
    public var value: JSONValue?
    /// When the person answered, by the client's clock.
    public var clientTime: Timestamp?
    /// What the person calls the device that writes; a conflict tells it. Came later and is optional.
    public var device: String?
    /// `true`: written although the answer is not at ``baseRevision`` any more. Came later and is optional.
    public var force: Bool?
    /// What one wants of another person's answer, where the question asks for it. Came later and is optional.
    public var preference: AnswerPreference?

    public init(
        question: String, subject: Identifier? = nil, mutationId: Identifier, baseRevision: Int64? = nil,
        state: AnswerState, value: JSONValue? = nil, clientTime: Timestamp? = nil, device: String? = nil,
        force: Bool? = nil, preference: AnswerPreference? = nil
    ) {
        self.question = question
        self.subject = subject
        self.mutationId = mutationId
        self.baseRevision = baseRevision
        self.state = state
        self.value = value
        self.clientTime = clientTime
        (self.device, self.force) = (device, force)
        self.preference = preference
    }
}

/// The session after a batch, and what became of each of its writes.
public struct AnswersSaved: PublicReply {
    public static let schema = JSONSchema.object([
        .required("results", .array(of: QueuedResult.schema, count: 1...100), "One for each answer, in order."),
        .required("progress", QuestionnaireProgress.schema),
        .required("next", .nullable(NextQuestion.schema), "Where to go on; null when nothing is left."),
        .required("shown", SessionMembers.places, "What is asked now and was not before."),
        .required(
            "hidden", SessionMembers.places, "What is not asked any more, and what was answered without being so."),
        .required("stale", SessionMembers.places, "Whose answer has an option in it that is not offered any more."),
    ])

    /// One for each answer, in order.
    public var results: [QueuedResult]
    public var progress: QuestionnaireProgress
    /// `nil` when nothing is left.
    public var next: NextQuestion?
    public var shown: [String]
    public var hidden: [String]
    public var stale: [String]

    public init(
        results: [QueuedResult], progress: QuestionnaireProgress, next: NextQuestion?, shown: [String] = [],
        hidden: [String] = [], stale: [String] = []
    ) {
        self.results = results
        self.progress = progress
        self.next = next
        (self.shown, self.hidden, self.stale) = (shown, hidden, stale)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(results, forKey: .results)
        try container.encode(progress, forKey: .progress)
        // Written as null, too: a client tells "finished" from "left out".
        try container.encode(next, forKey: .next)
        try container.encode(shown, forKey: .shown)
        try container.encode(hidden, forKey: .hidden)
        try container.encode(stale, forKey: .stale)
    }
}

/// What became of one write of a batch: saved, with a revision, or refused, with the error that it would have had alone.
public struct QueuedResult: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("question", .string(1...64)),
        .optional("subject", .uuid),
        .required("mutationId", .uuid),
        .required("saved", .boolean),
        .optional("revision", .integer(0...9_007_199_254_740_991), "Where it was saved, now or before."),
        .optional("error", QueuedError.schema, "Where it was not."),
    ])

    public var question: String
    public var subject: Identifier?
    public var mutationId: Identifier
    public var saved: Bool
    /// Where it was saved, now or before.
    public var revision: Int64?
    /// Where it was not.
    public var error: QueuedError?

    public init(
        question: String, subject: Identifier? = nil, mutationId: Identifier, revision: Int64? = nil,
        error: QueuedError? = nil
    ) {
        self.question = question
        self.subject = subject
        self.mutationId = mutationId
        saved = error == nil
        self.revision = revision
        self.error = error
    }
}

/// Why one write of a batch was refused.
public struct QueuedError: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("code", .string(1...64), "`validation_failed`, `answer_conflict` or `mutation_id_reused`."),
        .required("detail", .string(1...1000)),
        .optional("field", .string(1...64), "The member of the answer that is wrong."),
        .optional("reason", .string(1...64), "What is wrong with it: `too_small`, say."),
        .optional(
            "current", .any, "Of a conflict, what stands there now: `{revision, state, value, device, preference}`."),
    ])

    /// `validation_failed`, `answer_conflict` or `mutation_id_reused`.
    public var code: String
    /// A sentence that a person may be shown.
    public var detail: String
    /// The member of the answer that is wrong.
    public var field: String?
    /// What is wrong with it.
    public var reason: String?
    /// Of a conflict, what stands there now.
    public var current: JSONValue?

    public init(
        code: String, detail: String, field: String? = nil, reason: String? = nil, current: JSONValue? = nil
    ) {
        self.code = code
        self.detail = detail
        self.field = field
        self.reason = reason
        self.current = current
    }
}
