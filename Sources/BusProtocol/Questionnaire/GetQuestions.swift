import JSONText

/// The acting person's compatibility questionnaire, with what is answered so far; opens the session where there is none.
///
/// Handled by QuestionnaireService, behind `GET /compatibility/questions`. The person is the request's actor.
@Message
public struct GetQuestions: PublicRequest {
    public typealias Reply = QuestionsView
    public static let type: MessageType = "questionnaire.get-questions"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/compatibility/questions", .user, "The person's questionnaire with the answers so far.")

    /// The languages that the person would rather read (RFC 9110).
    @Field(.string(0...1000), from: .header("accept-language")) public var acceptLanguage: String?
}

/// A questionnaire as one person sees it: the version that the session is pinned to.
@Message
public struct QuestionsView: PublicReply {
    public var questionnaire: QuestionnaireReference
    public var sessionId: Identifier
    public var status: SessionStatus
    /// Every question, in order.
    @Field(count: 0...500) public var questions: [QuestionView]
    /// What is answered, in question order.
    @Field(count: 0...10_000) public var answers: [AnswerView]
    public var progress: QuestionnaireProgress
    /// Where to go on; null when nothing is left.
    ///
    /// Key of the first visible question without an answer; null when nothing is left.
    @Field(.nullable(.string(1...64)), isRequired: true) public var nextQuestion: String?
    /// Of the texts: a tag of RFC 5646.
    @Field(.string(2...35)) public var language: String?
}

/// Which definition a session is pinned to.
@Message
public struct QuestionnaireReference: MessageValue {
    @Field(.string(1...64)) public var key: String
    @Field(.integer(1...2_147_483_647)) public var version: Int64
    /// SHA-256 of the canonical definition, in hexadecimal digits.
    @Field(.string(64...64)) public var hash: String
    @Field(.string(1...200)) public var title: String
}
