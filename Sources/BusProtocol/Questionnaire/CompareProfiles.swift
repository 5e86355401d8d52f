import JSONText

/// Asks how well two people match who answered a questionnaire, by their newest results.
///
/// It is for other services. The reply contains nobody's answers.
@Message
public struct CompareProfiles: BusRequest {
    public typealias Reply = ProfilesCompared
    public static let type: MessageType = "questionnaire.compare-profiles"
    public static let rules = MessageRules(service: .questionnaire, callers: [.profile], effect: .read)

    /// The key of the questionnaire.
    @Field(.string(1...64)) public var questionnaire: String
    /// One person.
    public var first: Identifier
    /// The other person. The order makes no difference.
    public var second: Identifier
    /// What the two people are, for the questions that ask what a person wishes another one to be.
    @Field(count: 0...32) public var traits: [WishedTraits]?
}

/// What two people are, in the options of a question that asks what a person wishes another one to be.
@Message
public struct WishedTraits: MessageValue {
    /// The key of the question.
    @Field(.string(1...64)) public var question: String
    /// The options that fit the first person, as the second one sees them. Empty if that is not known.
    @Field(.string(1...64), count: 0...100) public var first: [String]
    /// The options that fit the second person, as the first one sees them. Empty if that is not known.
    @Field(.string(1...64), count: 0...100) public var second: [String]
}

/// The answer to ``CompareProfiles``.
@Message
public struct ProfilesCompared: BusReply {
    /// How similar their scores are.
    public var psychological: Likeness
    /// How well each is what the other wishes, and how similar their preferences are where that is not known.
    public var physical: Likeness
    /// How well each person's answers suit what the other wants.
    public var affinity: Likeness?
}

/// A score from 0 to 100, and the share of the questionnaire that it is based on.
@Message
public struct Likeness: MessageValue {
    /// Missing if nothing can be compared.
    @Field(.number(0...100)) public var score: Double?
    /// How much of what could be compared was compared, in per cent with at most three decimals.
    @Field(.number(0...100)) public var coverage: Double
    /// How many questions were compared. Missing where means over many questions are compared.
    @Field(.integer(0...500)) public var compared: Int64?
}
