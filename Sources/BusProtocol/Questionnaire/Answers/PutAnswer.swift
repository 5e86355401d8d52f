import JSONText

/// Saves one answer. The reply is sent after the commit.
///
/// A repetition with the same mutation ID and content gets the same reply. If `baseRevision` is not the answer's
/// revision and the value differs, the request is refused, and the error has the stored answer (`current`).
@Message
public struct PutAnswer: PublicRequest {
    public typealias Reply = AnswerSaved
    public static let type: MessageType = "questionnaire.put-answer"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [
            .unauthorized, .notFound, .validationFailed, .answerConflict, .mutationIDReused, .versionClosed,
            .sessionStopped, .dateOfBirthLocked, .underage,
        ])
    public static let route = HTTPRoute(
        .put, "/questionnaires/{key}/sessions/{id}/answers/{question}", .user, "Saves one answer.")

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The session.
    @Field(from: .path("id")) public var sessionId: Identifier
    /// The key of the question.
    @Field(.string(1...64), from: .path("question")) public var question: String
    /// The subject, in a section that repeats.
    @Field(from: .query("subject"), inExamples: false) public var subject: Identifier?
    /// Makes the write safe to repeat, even after later writes. Each write of an answer has its own.
    public var mutationId: Identifier
    /// The revision of this answer that the client saw; 0 if it saw none.
    @Field(.count) public var baseRevision: Int64?
    /// What the person did with the question.
    @Field(.givenState) public var state: AnswerState
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

/// Removes one answer. Its history is kept, and its revisions continue.
@Message
public struct DeleteAnswer: PublicRequest {
    public typealias Reply = AnswerSaved
    public static let type: MessageType = "questionnaire.delete-answer"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [
            .unauthorized, .notFound, .validationFailed, .answerConflict, .mutationIDReused, .versionClosed,
            .sessionStopped, .dateOfBirthLocked,
        ])
    public static let route = HTTPRoute(
        .delete, "/questionnaires/{key}/sessions/{id}/answers/{question}", .user, "Removes one answer.")

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The session.
    @Field(from: .path("id")) public var sessionId: Identifier
    /// The key of the question.
    @Field(.string(1...64), from: .path("question")) public var question: String
    /// The subject, in a section that repeats.
    @Field(from: .query("subject"), inExamples: false) public var subject: Identifier?
    /// Makes the write safe to repeat, even after later writes. Each write of an answer has its own. Only apps of the first
    /// release leave it out: without it, a repetition counts as another write.
    @Field(example: "0193c0de-7a1e-7c5b-9d2f-3e4a5b6c7d8f") public var mutationId: Identifier?
    /// The revision of this answer that the client saw; 0 if it saw none.
    @Field(.count) public var baseRevision: Int64?
    /// When the person removed it, by the client's clock.
    public var clientTime: Timestamp?
    /// The person's name for the device that writes, at most 64 grapheme clusters. A conflict shows it.
    @Field(.string(1...1024)) public var device: String?
    /// Writes even if the answer's revision is not `baseRevision`. The history keeps the removed answer.
    @Field(inExamples: false) public var force: Bool?
}

/// The session after one answer was saved or removed. Places are `question` or `question/subject`.
@Message
public struct AnswerSaved: PublicReply {
    /// The `baseRevision` of the next write of this answer; 0 if there is none.
    @Field(.count) public var revision: Int64
    /// How much of the questionnaire is answered.
    public var progress: QuestionnaireProgress
    /// Where to continue; `null` if nothing is left.
    @Field(.nullable(NextQuestion.schema), isRequired: true) public var next: NextQuestion?
    /// The screens behind the last question that are not acknowledged yet. Missing while something is left to answer.
    @Field(QuestionnaireSessionPlaces.list) public var closing: [String]?
    /// Questions that are asked now and were not asked before.
    @Field(QuestionnaireSessionPlaces.list) public var shown: [String] = []
    /// Questions that are no longer asked, and answers to questions that are not asked. Such answers are kept.
    @Field(QuestionnaireSessionPlaces.list) public var hidden: [String] = []
    /// Answers that this request made invalid, because an option in them is no longer offered.
    @Field(QuestionnaireSessionPlaces.list) public var stale: [String] = []
}
