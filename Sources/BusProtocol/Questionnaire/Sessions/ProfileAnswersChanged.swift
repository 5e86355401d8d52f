import JSONText

/// Answers that fill fields of the profile were saved or withdrawn.
///
/// It has no answers: `get-extracts` returns the present ones.
@Message
public struct ProfileAnswersChanged: BusEvent {
    public typealias Reply = Acknowledged
    public static let type: MessageType = "questionnaire.profile-answers-changed"
    public static let rules = MessageRules(service: .profile, callers: [.questionnaire], effect: .idempotent)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// The session.
    public var sessionID: Identifier
    /// The key of the questionnaire: `realsingles-profile`.
    @Field(.string(1...64)) public var questionnaire: String
    /// The keys of the fields, each once.
    @Field(.string(1...64), count: 1...500) public var fields: [String]
    /// The publishable key of the app that the person answered in; absent for the default app.
    @Field(.string(1...64)) public var app: String?
    /// `true`: it is unknown in which app, so the rules of every plan that the person follows count.
    public var appUnknown: Bool?
    /// When profile judged the answers, by the clock of its database.
    public var judgedAt: Timestamp
}
