import JSONText

/// Saves up to 100 answers in order, such as the queue of an offline client. Each answer has its own result.
///
/// An answer that cannot be saved does not prevent the others from being saved.
@Message
public struct PutAnswers: PublicRequest {
    public typealias Reply = AnswersSaved
    public static let type: MessageType = "questionnaire.put-answers"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .versionClosed, .sessionStopped])
    public static let route = HTTPRoute(
        .post, "/questionnaires/{key}/sessions/{id}/answers:batch", .user, "Saves up to 100 answers in order.")

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The session.
    @Field(from: .path("id")) public var sessionId: Identifier
    /// The answers are saved in this order.
    @Field(count: 1...100) public var answers: [QueuedAnswer]
}

/// One write of a batch. It is as ``PutAnswer``, or as ``DeleteAnswer`` with the state `unanswered`.
@Message
public struct QueuedAnswer: MessageValue {
    /// The key of the question.
    @Field(.string(1...64)) public var question: String
    /// The subject, in a section that repeats.
    public var subject: Identifier?
    /// Makes the write safe to repeat, even after later writes. Each write of an answer has its own.
    @Field(example: "0193c0de-7a1e-7c5b-9d2f-3e4a5b6c7d90") public var mutationId: Identifier
    /// The revision of this answer that the client saw; 0 if it saw none.
    @Field(.count) public var baseRevision: Int64?
    /// `unanswered` removes the answer.
    @Field(.values("answered", "skipped", "declined", "acknowledged", "unanswered")) public var state: AnswerState
    /// The value in the form of the question's `type`, if the state is `answered`: a key, a list of keys, a number, a text, a
    /// date, a height or a boolean.
    @Field(inExamples: true) public var value: JSONValue?
    /// When the person answered, by the client's clock.
    public var clientTime: Timestamp?
    /// The person's name for the device that writes, at most 64 grapheme clusters. A conflict shows it.
    @Field(.string(1...1024)) public var device: String?
    /// Writes even if the answer's revision is not `baseRevision`. The history keeps the replaced answer.
    public var force: Bool?
    /// What the person wants of another person's answer, if the question asks for it.
    public var preference: AnswerPreference?
}

/// The session after a batch, with the result of each write.
@Message
public struct AnswersSaved: PublicReply {
    /// One result for each answer, in order.
    @Field(count: 1...100) public var results: [QueuedResult]
    /// How much of the questionnaire is answered.
    public var progress: QuestionnaireProgress
    /// Where to continue; `null` if nothing is left.
    @Field(.nullable(NextQuestion.schema), isRequired: true) public var next: NextQuestion?
    /// The screens behind the last question that are not acknowledged yet. Missing while something is left to answer.
    @Field(QuestionnaireSessionPlaces.list) public var closing: [String]?
    /// Questions that are asked now and were not asked before.
    @Field(QuestionnaireSessionPlaces.list) public var shown: [String] = []
    /// Questions that are no longer asked, and answers to questions that are not asked.
    @Field(QuestionnaireSessionPlaces.list) public var hidden: [String] = []
    /// Questions whose answer has an option that is no longer offered.
    @Field(QuestionnaireSessionPlaces.list) public var stale: [String] = []
}

/// The result of one write of a batch: saved with a revision, or refused with the error of a single write.
@Message
public struct QueuedResult: MessageValue {
    /// The key of the question.
    @Field(.string(1...64)) public var question: String
    /// The subject, in a section that repeats.
    public var subject: Identifier?
    /// The mutation ID of the write.
    public var mutationId: Identifier
    /// Whether the answer was saved.
    public var saved: Bool
    /// The revision, if the answer was saved now or before.
    @Field(.count) public var revision: Int64?
    /// The error, if the answer was not saved.
    public var error: QueuedError?

    /// Takes the members. The answer was saved if there is no error.
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

/// Why one write of a batch was refused. Its members mean what those of a problem document mean.
@Message
public struct QueuedError: MessageValue {
    /// `validation_failed`, `answer_conflict` or `mutation_id_reused`. For an answer that is a date of birth also
    /// `date_of_birth_locked` or `underage`.
    @Field(
        .open(
            1...64, "validation_failed", "answer_conflict", "mutation_id_reused", "date_of_birth_locked", "underage"))
    public var code: String
    /// A sentence that a person may be shown.
    @Field(.string(1...1000)) public var detail: String
    /// What is wrong with which member of the write. Pointers lead into the body of the request.
    @Field(count: 1...100) public var errors: [FieldProblem]?
    /// The member of the answer that is wrong. Use `errors`.
    @Field(.string(1...64), isDeprecated: true) public var field: String?
    /// What is wrong with it, such as `too_small`. Use `errors`.
    @Field(.string(1...64), isDeprecated: true, example: "too_small") public var reason: String?
    /// For a conflict, the stored answer: `{revision, state, value, device, preference}`.
    public var current: JSONValue?
}
