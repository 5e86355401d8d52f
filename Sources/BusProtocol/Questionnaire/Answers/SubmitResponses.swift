import JSONText

/// Saves answers of the person in one transaction, and completes the session if asked to.
///
/// It answers `POST /compatibility/responses`. A repetition changes nothing.
///
/// A request that completes too early fails with `questionnaire_incomplete`. Its answers are saved nevertheless
/// (`executed` is `yes`), so no answer is lost.
@Message
public struct SubmitResponses: PublicRequest {
    public typealias Reply = ResponsesSubmitted
    public static let type: MessageType = "questionnaire.submit-responses"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [
            .unauthorized, .notFound, .validationFailed, .questionnaireIncomplete, .answerConflict, .mutationIDReused,
            .versionClosed, .sessionStopped, .dateOfBirthLocked, .underage,
        ])
    public static let route = HTTPRoute(
        .post, "/compatibility/responses", .user, "Saves answers, and completes the questionnaire if asked to.")

    /// The session; by default the person's current session.
    public var sessionId: Identifier?
    /// The answers are saved in this order.
    @Field(count: 0...100) public var answers: [ResponseItem]
    /// Completes the session when these answers are saved.
    public var complete: Bool?
}

/// What a person did with one question: a value, or a state that has none.
@Message
public struct ResponseItem: MessageValue {
    /// The key of the question.
    @Field(.string(1...64)) public var question: String
    /// The subject, in a section that repeats.
    public var subject: Identifier?
    /// The value in the form of the question's `type`: a key, a list of keys, a number, a text, a date, a height or a boolean.
    @Field(inExamples: true) public var value: JSONValue?
    /// `answered` by default.
    @Field(.givenState) public var state: AnswerState?
    /// Makes the write safe to repeat, even after later writes. Each write of an answer has its own. Only apps of the first
    /// release leave it out: without it, a repetition counts as another write.
    public var mutationId: Identifier?
    /// The revision of this answer that the client saw; 0 if it saw none.
    @Field(.count) public var baseRevision: Int64?
    /// When the person answered, by the client's clock.
    public var clientTime: Timestamp?
    /// The person's name for the device that writes, at most 64 grapheme clusters. A conflict shows it.
    @Field(.string(1...1024)) public var device: String?
    /// Writes even if the answer's revision is not `baseRevision`. The history keeps the replaced answer.
    public var force: Bool?
    /// What the person wants of another person's answer, if the question asks for it.
    public var preference: AnswerPreference?
}

/// The session after the answers were saved.
@Message
public struct ResponsesSubmitted: PublicReply {
    private static let changes = JSONSchema.array(of: .questionKey, count: 1...500)

    /// The session.
    public var sessionId: Identifier
    /// The status of the session.
    public var status: SessionStatus
    /// How much of the questionnaire is answered.
    public var progress: QuestionnaireProgress
    /// Where to continue; missing if nothing is left.
    public var next: NextQuestion?
    /// The question of `next`; `null` if nothing is left. Use `next`.
    @Field(.nullable(.questionKey), isRequired: true, isDeprecated: true) public var nextQuestion: String?
    /// One revision for each answer of the request, in its order.
    @Field(count: 0...100) public var answers: [AnswerRevision]
    /// Questions that are asked now and were not asked before.
    @Field(changes) public var shown: [String]?
    /// Questions that are no longer asked. Their answers are kept.
    @Field(changes) public var hidden: [String]?
    /// Questions whose answer has an option that is no longer offered.
    @Field(changes) public var stale: [String]?
}

/// The revision of an answer after a write: the `baseRevision` of the next write.
@Message
public struct AnswerRevision: MessageValue {
    /// The key of the question.
    @Field(.string(1...64)) public var question: String
    /// The revision.
    @Field(.ordinal) public var revision: Int64
    /// The subject, in a section that repeats.
    public var subject: Identifier?
}
