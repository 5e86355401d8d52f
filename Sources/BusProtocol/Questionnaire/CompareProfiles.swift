import JSONText

/// How two people who answered a questionnaire go together, of what their newest results say.
///
/// Handled by QuestionnaireService, for the services of the house: nobody's answers are in it.
public struct CompareProfiles: BusRequest {
    public typealias Reply = ProfilesCompared
    public static let type: MessageType = "questionnaire.compare-profiles"
    public static let rules = MessageRules(service: .questionnaire, callers: [.profile], effect: .read)
    public static let schema = JSONSchema.object([
        SessionMembers.questionnaire, .required("first", .uuid), .required("second", .uuid),
    ])

    /// Key of the questionnaire.
    public var questionnaire: String
    /// One person.
    public var first: Identifier
    /// The other; which is which makes no difference.
    public var second: Identifier

    public init(questionnaire: String, first: Identifier, second: Identifier) {
        (self.questionnaire, self.first, self.second) = (questionnaire, first, second)
    }
}

/// The answer to ``CompareProfiles``.
public struct ProfilesCompared: BusReply {
    public static let schema = JSONSchema.object([
        .required("psychological", Likeness.schema, "How near their scores are."),
        .required("physical", Likeness.schema, "How much of what they prefer is the same."),
        .optional("affinity", Likeness.schema, "How well each one's answers suit what the other wants."),
    ])

    /// How near their scores are.
    public var psychological: Likeness
    /// How much of what they prefer is the same.
    public var physical: Likeness
    /// How well each one's answers suit what the other wants; `nil` where they share no question that asks for that. Came later
    /// and is optional.
    public var affinity: Likeness?

    public init(psychological: Likeness, physical: Likeness, affinity: Likeness? = nil) {
        (self.psychological, self.physical, self.affinity) = (psychological, physical, affinity)
    }
}

/// A number from 0 to 100, and how much of the questionnaire it stands on.
public struct Likeness: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .optional("score", .number(0...100), "Missing where nothing can be compared."),
        .required("coverage", .number(0...100), "Per cent of what could be compared that was."),
    ])

    /// With at most three decimals; `nil` where nothing can be compared.
    public var score: Double?
    /// Per cent of what could be compared that was, with at most three decimals.
    public var coverage: Double

    public init(score: Double?, coverage: Double) { (self.score, self.coverage) = (score, coverage) }
}
