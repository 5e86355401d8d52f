import JSONText

/// One question as a client shows it.
@Message
public struct QuestionView: MessageValue {
    /// The key of the question.
    @Field(.string(1...64)) public var key: String
    /// For the address of the question's screen.
    @Field(.string(1...64)) public var slug: String?
    /// The key of the section.
    @Field(.string(1...64)) public var section: String
    /// `single_choice`, `multi_choice`, `slider`, `ranking`, `tags`, `text`, `date`, `number`, `height`, `boolean` or `info`.
    @Field(.questionType) public var type: String
    /// The question as the person reads it.
    @Field(.string(1...1000)) public var text: String
    /// An explanation of the question.
    @Field(.string(1...1000)) public var help: String?
    /// Whether the session needs an answer to be completed.
    public var required: Bool
    /// Whether the question may be skipped.
    public var skippable: Bool
    /// Whether an answer may be declined.
    public var declinable: Bool
    /// Whether the question is asked, by the answers so far.
    public var visible: Bool
    /// The control that a client shows.
    @Field(.presentation) public var presentation: String
    /// A suggestion. It is no answer until the client sends it.
    public var `default`: JSONValue?
    /// What an answer must keep to.
    public var constraints: QuestionConstraints = QuestionConstraints()
    /// The options that are offered.
    @Field(count: 1...500) public var options: [QuestionOption]?
    /// The title of the section.
    @Field(.string(1...1000), example: "Lifestyle") public var sectionTitle: String?
    /// Present if the question asks what the person wants of another person's answer.
    public var preference: QuestionPreference?
}

/// One option that can be chosen.
@Message
public struct QuestionOption: MessageValue {
    /// The value to send.
    @Field(.string(1...64), example: "never") public var key: String
    /// The text to show.
    @Field(.string(1...200)) public var label: String
    /// The option cannot be chosen together with another.
    public var exclusive: Bool
}

/// What an answer must keep to. The question's type decides which members are present.
@Message
public struct QuestionConstraints: MessageValue {
    /// The smallest value. For choices, use `minSelections`.
    @Field(.number(-1e9...1e9), example: 0) public var min: Double?
    /// The largest value. For choices, use `maxSelections`.
    @Field(.number(-1e9...1e9), example: 10) public var max: Double?
    /// The fewest options that may be chosen.
    @Field(.integer(0...500), example: 1) public var minSelections: Int64?
    /// The most options that may be chosen.
    @Field(.integer(1...500)) public var maxSelections: Int64?
    /// The distance between two values of a slider, counted from `min`.
    @Field(.number(0.001...1e9), example: 1) public var step: Double?
    /// How many of the options are ranked; by default all of them.
    @Field(.integer(1...500), example: 3) public var topK: Int64?
    /// The shortest text, in grapheme clusters.
    @Field(.integer(0...4096)) public var minLength: Int64?
    /// The longest text, in grapheme clusters.
    @Field(.integer(1...4096)) public var maxLength: Int64?
    /// What the slider's low end means.
    @Field(.string(1...200), example: "Never") public var minLabel: String?
    /// What the slider's high end means.
    @Field(.string(1...200), example: "Always") public var maxLabel: String?
    /// The earliest date.
    public var earliest: CivilDate?
    /// The latest date.
    public var latest: CivilDate?
    /// The lowest age in years of the person whose birthday is asked for.
    @Field(.integer(0...200)) public var minAge: Int64?
    /// The highest age in years of the person whose birthday is asked for.
    @Field(.integer(0...200)) public var maxAge: Int64?
    /// The form of a text: `person_name`, `single_line`, `digits`, `https_url`, an https address, or `media_id`, the ID of a picture that the person uploaded.
    @Field(.textFormat) public var format: String?
    /// The form of a text. Use `format`.
    @Field(.textFormat, isDeprecated: true) public var pattern: String?
    /// The person's own entries, each sent as `{"other": text}`.
    public var other: OtherConstraint?

    /// Makes constraints that an answer of any value keeps to.
    public init() {}
}

/// How many entries of their own a person may add, and how long they may be.
@Message
public struct OtherConstraint: MessageValue {
    /// The most entries.
    @Field(.integer(1...100), example: 3) public var maxCount: Int64
    /// The longest entry, in grapheme clusters.
    @Field(.integer(1...1000)) public var maxLength: Int64
}
