import JSONText

/// Saves one answer; it is answered when it is committed.
///
/// The same mutation id with the same content is answered as the first time. A revision that is not the answer's own is
/// refused where the value is another one, with what stands there now (`current`).
@Message
public struct PutAnswer: PublicRequest {
    public typealias Reply = AnswerSaved
    public static let type: MessageType = "questionnaire.put-answer"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [
            .unauthorized, .notFound, .validationFailed, .answerConflict, .mutationIDReused, .versionClosed,
            .sessionStopped,
        ])
    public static let route = HTTPRoute(
        .put, "/questionnaires/{key}/sessions/{id}/answers/{question}", .user, "Saves one answer.")

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    @Field(from: .path("id")) public var sessionId: Identifier
    /// Key of the question.
    @Field(.string(1...64), from: .path("question")) public var question: String
    /// Whom it is about, in a section that repeats.
    @Field(from: .query("subject")) public var subject: Identifier?
    /// Makes the write safe to repeat, also after later writes.
    public var mutationId: Identifier
    /// Revision of this answer that the client saw; 0: it saw none.
    @Field(.count) public var baseRevision: Int64?
    @Field(.values("answered", "skipped", "declined", "acknowledged")) public var state: AnswerState
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

/// Takes one answer back: its history stays, and its revisions go on.
@Message
public struct DeleteAnswer: PublicRequest {
    public typealias Reply = AnswerSaved
    public static let type: MessageType = "questionnaire.delete-answer"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [
            .unauthorized, .notFound, .validationFailed, .answerConflict, .mutationIDReused, .versionClosed,
            .sessionStopped,
        ])
    public static let route = HTTPRoute(
        .delete, "/questionnaires/{key}/sessions/{id}/answers/{question}", .user, "Takes one answer back.")

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    @Field(from: .path("id")) public var sessionId: Identifier
    /// Key of the question.
    @Field(.string(1...64), from: .path("question")) public var question: String
    /// Whom it is about, in a section that repeats.
    @Field(from: .query("subject")) public var subject: Identifier?
    /// Makes the write safe to repeat, also after later writes.
    public var mutationId: Identifier?
    /// Revision of this answer that the client saw; 0: it saw none.
    @Field(.count) public var baseRevision: Int64?
    /// When the person took it back, by the client's clock.
    public var clientTime: Timestamp?
    /// What the person calls the device that writes, at most 64 characters as a person counts them; a conflict tells it.
    @Field(.string(1...1024)) public var device: String?
    /// True: written although the answer is not at `baseRevision` any more; what stood there is in the history.
    public var force: Bool?
}

/// The session after one answer was saved or taken back. Places are `question`, or `question/subject`.
@Message
public struct AnswerSaved: PublicReply {
    /// The `baseRevision` of the next write of this answer; 0: there is none.
    @Field(.count) public var revision: Int64
    public var progress: QuestionnaireProgress
    /// Where to go on; null when nothing is left.
    @Field(.nullable(NextQuestion.schema), isRequired: true) public var next: NextQuestion?
    /// What is asked now and was not before.
    @Field(SessionPlaces.list) public var shown: [String] = []
    /// What is not asked any more, and what was answered without being asked; such answers are kept.
    @Field(SessionPlaces.list) public var hidden: [String] = []
    /// Whose answer is none since this request, as an option in it is not offered any more.
    @Field(SessionPlaces.list) public var stale: [String] = []
}
