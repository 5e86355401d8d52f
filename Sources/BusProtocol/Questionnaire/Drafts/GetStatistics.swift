import JSONText

/// Asks how people dealt with each question of a version, in its newest sessions. The reply contains nobody's answers.
@Message
public struct GetStatistics: PublicRequest {
    public typealias Reply = VersionStatistics
    public static let type: MessageType = "questionnaire.get-statistics"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .get, "/admin/questionnaires/{key}/versions/{n}/statistics", .admin,
        "How people dealt with each question of a version.")

    /// The key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// The number of the version, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var version: String
}

/// The answer to ``GetStatistics``.
@Message
public struct VersionStatistics: PublicReply {
    /// The number of the version.
    @Field(VersionMembers.number) public var version: Int64
    /// The sessions that were examined: the newest, at most 5,000.
    @Field(.count) public var sessions: Int64
    /// All sessions of the version.
    @Field(.count, example: 2) public var of: Int64
    /// The completed sessions among those examined.
    @Field(.count) public var completed: Int64
    /// The questions in order.
    @Field(count: 0...500) public var questions: [QuestionStatistics]
}

/// How people dealt with one question. In a section that repeats, each subject counts.
@Message
public struct QuestionStatistics: MessageValue {

    /// The key of the question.
    @Field(.string(1...64)) public var question: String
    /// How often it was asked.
    @Field(.count, example: 945) public var shown: Int64 = 0
    /// How often it was answered.
    @Field(.count, example: 912) public var answered: Int64 = 0
    /// How often it was skipped.
    @Field(.count, example: 21) public var skipped: Int64 = 0
    /// How often an answer was declined.
    @Field(.count, example: 12) public var declined: Int64 = 0
    /// How often it was seen and left empty.
    @Field(.count, example: 0) public var acknowledged: Int64 = 0
    /// The median time since the answer before, in the same session. Times over one hour are pauses and do not count.
    @Field(.number(0...1e9)) public var medianSeconds: Double?
    /// Open or stopped sessions whose next question it is.
    @Field(.count, example: 31) public var dropOff: Int64 = 0

    /// Makes statistics of a question that nobody was asked.
    public init(question: String) { self.question = question }
}
