import JSONText

/// One question as a client shows it.
@Message
public struct QuestionView: MessageValue {
    @Field(.string(1...64)) public var key: String
    /// For the address of the question's screen.
    @Field(.string(1...64)) public var slug: String?
    @Field(.string(1...64)) public var section: String
    /// `single_choice`, `multi_choice`, `slider`, `ranking`, `tags`, `text`, `date`, `number`, `height`, `boolean` or `info`.
    @Field(.string(1...32)) public var type: String
    @Field(.string(1...1000)) public var text: String
    @Field(.string(1...1000)) public var help: String?
    public var required: Bool
    public var skippable: Bool
    public var declinable: Bool
    public var visible: Bool
    @Field(.string(1...32)) public var presentation: String
    /// A suggestion; it is no answer until it is sent.
    public var `default`: JSONValue?
    public var constraints: QuestionConstraints = QuestionConstraints()
    @Field(count: 1...500) public var options: [QuestionOption]?
    @Field(.string(1...1000)) public var sectionTitle: String?
    /// Where it asks what one wants of another person's answer.
    public var preference: QuestionPreference?
}

/// One of the things that can be chosen.
@Message
public struct QuestionOption: MessageValue {
    @Field(.string(1...64)) public var key: String
    @Field(.string(1...200)) public var label: String
    /// Cannot be chosen together with another.
    public var exclusive: Bool
}

/// What an answer must keep to. Which members are there depends on the question's type.
@Message
public struct QuestionConstraints: MessageValue {
    /// Least value, or least number of choices.
    @Field(.number(-1e9...1e9)) public var min: Double?
    /// Greatest value, or greatest number of choices.
    @Field(.number(-1e9...1e9)) public var max: Double?
    /// Distance of two values of a slider, counted from `min`.
    @Field(.number(0.001...1e9)) public var step: Double?
    /// How many of the options are ranked; all of them where it is missing.
    @Field(.integer(1...500)) public var topK: Int64?
    /// Characters as a person counts them.
    ///
    /// Grapheme clusters.
    @Field(.integer(0...4096)) public var minLength: Int64?
    /// Characters as a person counts them.
    ///
    /// Grapheme clusters.
    @Field(.integer(1...4096)) public var maxLength: Int64?
    /// What the slider's low end means.
    @Field(.string(1...200)) public var minLabel: String?
    /// What the slider's high end means.
    @Field(.string(1...200)) public var maxLabel: String?
    public var earliest: CivilDate?
    public var latest: CivilDate?
    /// Years, of the person whose birthday is asked for.
    @Field(.integer(0...200)) public var minAge: Int64?
    /// Years, of the person whose birthday is asked for.
    @Field(.integer(0...200)) public var maxAge: Int64?
    /// `person_name`, `single_line` or `digits`.
    @Field(.string(1...32)) public var pattern: String?
    /// Entries of one's own, each sent as `{"other": text}`.
    public var other: OtherConstraint?

    public init() {}
}

/// How many entries of one's own a question takes, and how long they may be.
@Message
public struct OtherConstraint: MessageValue {
    @Field(.integer(1...100)) public var maxCount: Int64
    /// Characters as a person counts them.
    ///
    /// Grapheme clusters.
    @Field(.integer(1...1000)) public var maxLength: Int64
}
