import JSONText

/// Saves answers of the acting person, all of one request in one transaction, and completes the session where asked.
///
/// Handled by QuestionnaireService, behind `POST /compatibility/responses`. Saving the same again changes nothing. A
/// request that completes too early is refused with `questionnaire_incomplete`, and its answers are saved all the same
/// (`executed` is `yes`): nothing that a person has answered is lost.
@Message
public struct SubmitResponses: PublicRequest {
    public typealias Reply = ResponsesSubmitted
    public static let type: MessageType = "questionnaire.submit-responses"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent,
        errors: [
            .unauthorized, .notFound, .validationFailed, .questionnaireIncomplete, .answerConflict, .mutationIDReused,
            .versionClosed, .sessionStopped,
        ])
    public static let route = HTTPRoute(
        .post, "/compatibility/responses", .user, "Saves answers, and completes the questionnaire where asked.")

    /// The person's current session where it is missing.
    public var sessionId: Identifier?
    /// Saved in this order.
    @Field(count: 0...100) public var answers: [ResponseItem]
    /// Close the session when these are saved.
    public var complete: Bool?
}

/// What a person did with one question: a value, or a state that has none.
@Message
public struct ResponseItem: MessageValue {
    /// Key of the question.
    @Field(.string(1...64)) public var question: String
    /// Whom it is about, in a section that repeats.
    public var subject: Identifier?
    /// In the form of the question's type.
    public var value: JSONValue?
    /// `answered` where it is missing.
    @Field(.values("answered", "skipped", "declined", "acknowledged")) public var state: AnswerState?
    /// Makes the write safe to repeat, also after later writes.
    public var mutationId: Identifier?
    /// Revision of this answer that the client saw; 0: it saw none.
    @Field(.count) public var baseRevision: Int64?
    /// When the person answered, by the client's clock.
    public var clientTime: Timestamp?
    /// What the person calls the device that writes, at most 64 characters as a person counts them; a conflict tells it.
    @Field(.string(1...1024)) public var device: String?
    /// True: written although the answer is not at `baseRevision` any more; what stood there is in the history.
    public var force: Bool?
    /// What one wants of another person's answer, where the question asks for it.
    public var preference: AnswerPreference?
}

/// The session after the answers were saved.
@Message
public struct ResponsesSubmitted: PublicReply {
    private static let changes = JSONSchema.array(of: .string(1...64), count: 1...500)

    public var sessionId: Identifier
    public var status: SessionStatus
    public var progress: QuestionnaireProgress
    /// Where to go on; null when nothing is left.
    ///
    /// Key of the first visible question without an answer; null when nothing is left.
    @Field(.nullable(.string(1...64)), isRequired: true) public var nextQuestion: String?
    /// One for each answer of the request, in its order.
    @Field(count: 0...100) public var answers: [AnswerRevision]
    /// Questions that are asked now and were not before.
    @Field(changes) public var shown: [String]?
    /// Questions that are not asked any more; their answers are kept.
    @Field(changes) public var hidden: [String]?
    /// Questions whose answer has an option in it that is not offered any more.
    @Field(changes) public var stale: [String]?
}

/// The revision that a write left its answer at: the `baseRevision` of the next write.
@Message
public struct AnswerRevision: MessageValue {
    @Field(.string(1...64)) public var question: String
    @Field(.ordinal) public var revision: Int64
    /// Whom it is about, in a section that repeats.
    public var subject: Identifier?
}
