import JSONText

/// Asks whether the profile takes answers to a questionnaire that fill its fields, before they are saved.
///
/// Each answer is judged by itself, as if the person changed that one field by `PATCH /users/me`.
@Message
public struct JudgeAnswers: BusRequest {
    public typealias Reply = AnswersJudged
    public static let type: MessageType = "profile.judge-answers"
    // A session that moves to another version can ask about every field of the profile at once, with the longest answers.
    public static let rules = MessageRules(
        service: .profile, callers: [.questionnaire], effect: .read, largestBody: 524_288,
        limits: JSONLimits(depth: 32, values: 65_536))

    /// The most answers of one request.
    public static let most = 200

    /// The person.
    public var personID: Identifier
    /// The publishable key of the app that the person answers in; absent for the default app.
    @Field(.string(1...64)) public var app: String?
    /// `true`: it is unknown in which app, so the rules of every plan that the person follows count.
    public var appUnknown: Bool?
    /// The answers. A field may be named several times, with different values.
    @Field(count: 1...200) public var answers: [ProfileExtract]
}

/// The reply to ``JudgeAnswers``.
@Message
public struct AnswersJudged: BusReply {
    /// The answers that the profile refuses, in the order of the request.
    @Field(count: 0...200) public var refused: [RefusedAnswer]
    /// When the answers were judged, by the clock of profile's database.
    public var judgedAt: Timestamp
}

/// Why the profile refuses an answer.
@Message
public struct RefusedAnswer: MessageValue {
    /// The position of the answer in the request, from 0.
    @Field(.integer(0...199)) public var index: Int64
    /// `validation_failed`, `date_of_birth_locked` or `underage`.
    @Field(.string(1...64)) public var code: String
    /// A sentence that the person may be shown.
    @Field(.string(1...1000)) public var detail: String
    /// What is wrong with the value, such as `too_short`; only with `validation_failed`.
    @Field(.string(1...64)) public var reason: String?
    /// The day from which the person is old enough; only with `underage`.
    public var eligibleOn: CivilDate?
}
