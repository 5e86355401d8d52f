import JSONText

/// What people did with each question of a version, over its newest sessions. Nobody's answers are in it.
@Message
public struct GetStatistics: PublicRequest {
    public typealias Reply = VersionStatistics
    public static let type: MessageType = "questionnaire.get-statistics"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .get, "/admin/questionnaires/{key}/versions/{n}/statistics", .admin,
        "What people did with each question of a version.")

    /// Key of the questionnaire.
    @Field(.string(1...64), from: .path("key")) public var questionnaire: String
    /// A number from 1.
    ///
    /// In decimal digits, as it stands in the path.
    @Field(.string(1...10), from: .path("n")) public var version: String
}

/// The answer to ``GetStatistics``.
@Message
public struct VersionStatistics: PublicReply {
    @Field(VersionMembers.number) public var version: Int64
    /// That were looked at: the newest, 5,000 at most.
    @Field(.count) public var sessions: Int64
    /// All of the version.
    @Field(.count) public var of: Int64
    /// Of those looked at.
    @Field(.count) public var completed: Int64
    /// In order.
    @Field(count: 0...500) public var questions: [QuestionStatistics]
}

/// What people did with one question; of a section that repeats, each subject counts.
@Message
public struct QuestionStatistics: MessageValue {

    @Field(.string(1...64)) public var question: String
    /// It is asked of so many.
    @Field(.count) public var shown: Int64 = 0
    @Field(.count) public var answered: Int64 = 0
    @Field(.count) public var skipped: Int64 = 0
    @Field(.count) public var declined: Int64 = 0
    /// Seen, and left empty.
    @Field(.count) public var acknowledged: Int64 = 0
    /// From the answer before, in the same session; what took longer than an hour was a pause.
    @Field(.number(0...1e9)) public var medianSeconds: Double?
    /// Sessions, open or stopped, of which it is the next.
    @Field(.count) public var dropOff: Int64 = 0

    public init(question: String) { self.question = question }
}
