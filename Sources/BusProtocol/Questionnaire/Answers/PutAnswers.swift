import JSONText

/// Saves up to 100 answers in order, an offline queue say, each with a result of its own: what cannot be saved keeps nothing else from being so.
@Message
public struct PutAnswers: PublicRequest {
    public typealias Reply = AnswersSaved
    public static let type: MessageType = "questionnaire.put-answers"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .versionClosed, .sessionStopped])
    public static let route = HTTPRoute(
        .post, "/questionnaires/{key}/sessions/{id}/answers:batch", .user, "Saves up to 100 answers in order.")

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    @Field(from: .path("id")) public var sessionId: Identifier
    /// Saved in this order.
    @Field(count: 1...100) public var answers: [QueuedAnswer]
}

/// One write of a batch: as ``PutAnswer``, or, with the state `unanswered`, as ``DeleteAnswer``.
@Message
public struct QueuedAnswer: MessageValue {
    /// Key of the question.
    @Field(.string(1...64)) public var question: String
    /// Whom it is about, in a section that repeats.
    public var subject: Identifier?
    /// Makes the write safe to repeat, also after later writes.
    public var mutationId: Identifier
    /// Revision of this answer that the client saw; 0: it saw none.
    @Field(.count) public var baseRevision: Int64?
    /// `unanswered` takes the answer back.
    @Field(.values("answered", "skipped", "declined", "acknowledged", "unanswered")) public var state: AnswerState
    /// In the form of the question's type, where the state is `answered`.
    public var value: JSONValue?
    /// When the person answered, by the client's clock.
    public var clientTime: Timestamp?
    /// What the person calls the device that writes, at most 64 characters as a person counts them; a conflict tells it.
    @Field(.string(1...1024)) public var device: String?
    /// True: written although the answer is not at `baseRevision` any more; what stood there is in the history.
    public var force: Bool?
    /// What one wants of another person's answer, where the question asks for it.
    public var preference: AnswerPreference?
}

/// The session after a batch, and what became of each of its writes.
@Message
public struct AnswersSaved: PublicReply {
    /// One for each answer, in order.
    @Field(count: 1...100) public var results: [QueuedResult]
    public var progress: QuestionnaireProgress
    /// Where to go on; null when nothing is left.
    @Field(.nullable(NextQuestion.schema), isRequired: true) public var next: NextQuestion?
    /// What is asked now and was not before.
    @Field(SessionPlaces.list) public var shown: [String] = []
    /// What is not asked any more, and what was answered without being so.
    @Field(SessionPlaces.list) public var hidden: [String] = []
    /// Whose answer has an option in it that is not offered any more.
    @Field(SessionPlaces.list) public var stale: [String] = []
}

/// What became of one write of a batch: saved, with a revision, or refused, with the error that it would have had alone.
@Message
public struct QueuedResult: MessageValue {
    @Field(.string(1...64)) public var question: String
    public var subject: Identifier?
    public var mutationId: Identifier
    public var saved: Bool
    /// Where it was saved, now or before.
    @Field(.count) public var revision: Int64?
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
@Message
public struct QueuedError: MessageValue {
    /// `validation_failed`, `answer_conflict` or `mutation_id_reused`.
    @Field(.string(1...64)) public var code: String
    /// A sentence that a person may be shown.
    @Field(.string(1...1000)) public var detail: String
    /// The member of the answer that is wrong.
    @Field(.string(1...64)) public var field: String?
    /// What is wrong with it: `too_small`, say.
    @Field(.string(1...64)) public var reason: String?
    /// Of a conflict, what stands there now: `{revision, state, value, device, preference}`.
    public var current: JSONValue?
}
