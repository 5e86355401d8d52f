import JSONText

/// How two people who answered a questionnaire go together, of what their newest results say.
///
/// Handled by QuestionnaireService, for the services of the house: nobody's answers are in it.
@Message
public struct CompareProfiles: BusRequest {
    public typealias Reply = ProfilesCompared
    public static let type: MessageType = "questionnaire.compare-profiles"
    public static let rules = MessageRules(service: .questionnaire, callers: [.profile], effect: .read)

    /// Key of the questionnaire.
    @Field(.string(1...64)) public var questionnaire: String
    /// One person.
    public var first: Identifier
    /// The other; which is which makes no difference.
    public var second: Identifier
}

/// The answer to ``CompareProfiles``.
@Message
public struct ProfilesCompared: BusReply {
    /// How near their scores are.
    public var psychological: Likeness
    /// How much of what they prefer is the same.
    public var physical: Likeness
    /// How well each one's answers suit what the other wants.
    public var affinity: Likeness?
}

/// A number from 0 to 100, and how much of the questionnaire it stands on.
@Message
public struct Likeness: MessageValue {
    /// Missing where nothing can be compared.
    @Field(.number(0...100)) public var score: Double?
    /// Per cent of what could be compared that was, with at most three decimals.
    @Field(.number(0...100)) public var coverage: Double
}
