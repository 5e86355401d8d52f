import JSONText

/// Asks for the person's compatibility questionnaire with the answers so far. It opens a session if there is none.
///
/// It answers `GET /compatibility/questions`. The person is the request's actor.
@Message
public struct GetQuestions: PublicRequest {
    public typealias Reply = QuestionsView
    public static let type: MessageType = "questionnaire.get-questions"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/compatibility/questions", .user, "The person's questionnaire with the answers so far.")

    /// The languages that the person prefers (RFC 9110).
    @Field(.string(0...1000), from: .header("accept-language")) public var acceptLanguage: String?
}

/// A questionnaire as one person sees it, in the version of the session.
@Message
public struct QuestionsView: PublicReply {
    /// The version that the session uses.
    public var questionnaire: QuestionnaireReference
    /// The session.
    public var sessionId: Identifier
    /// The status of the session.
    public var status: SessionStatus
    /// Every question, in order.
    @Field(count: 0...500) public var questions: [QuestionView]
    /// The answers so far, in question order.
    @Field(count: 0...10_000) public var answers: [AnswerView]
    /// How much of the questionnaire is answered.
    public var progress: QuestionnaireProgress
    /// Where to continue; missing if nothing is left.
    public var next: NextQuestion?
    /// The question of `next`; `null` if nothing is left. Use `next`.
    @Field(.nullable(.questionKey), isRequired: true, isDeprecated: true) public var nextQuestion: String?
    /// The language of the texts (RFC 5646).
    @Field(.string(2...35)) public var language: String?
}

/// The version that a session uses.
@Message
public struct QuestionnaireReference: MessageValue {
    /// The key of the questionnaire.
    @Field(.string(1...64), example: "yoked-compat") public var key: String
    /// The number of the version.
    @Field(.integer(1...2_147_483_647)) public var version: Int64
    /// SHA-256 of the canonical definition, in hexadecimal digits.
    @Field(.string(64...64)) public var hash: String
    /// The title of the questionnaire.
    @Field(.string(1...200)) public var title: String
}
