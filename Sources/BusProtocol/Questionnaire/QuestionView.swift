import JSONText

/// One question as a client shows it.
public struct QuestionView: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("key", .string(1...64)),
        .optional("slug", .string(1...64), "For the address of the question's screen."),
        .required("section", .string(1...64)),
        .required("type", .string(1...32), "`single_choice`, `multi_choice`, `slider`, `ranking`, `tags`, …"),
        .required("text", .string(1...1000)),
        .optional("help", .string(1...1000)),
        .required("required", .boolean),
        .required("skippable", .boolean),
        .required("declinable", .boolean),
        .required("visible", .boolean),
        .required("presentation", .string(1...32)),
        .optional("default", .any, "A suggestion; it is no answer until it is sent."),
        .required("constraints", QuestionConstraints.schema),
        .optional("options", .array(of: QuestionOption.schema, count: 1...500)),
        .optional("sectionTitle", .string(1...1000)),
        .optional("preference", QuestionPreference.schema, "Where it asks what one wants of another person's answer."),
    ])

    public var key: String
    /// For the address of the question's screen.
    public var slug: String?
    public var section: String
    /// `single_choice`, `multi_choice`, `slider`, `ranking`, `tags`, `text`, `date`, `number`, `height`, `boolean` or
    /// `info`.
    public var type: String
    public var text: String
    public var help: String?
    public var required: Bool
    public var skippable: Bool
    public var declinable: Bool
    public var visible: Bool
    public var presentation: String
    /// A suggestion; it is no answer until it is sent.
    public var `default`: JSONValue?
    public var constraints: QuestionConstraints
    public var options: [QuestionOption]?
    public var sectionTitle: String?
    /// Where it asks what one wants of another person's answer. Came later and is optional.
    public var preference: QuestionPreference?

    public init(
        key: String, slug: String? = nil, section: String, type: String, text: String, help: String? = nil,
        required: Bool, skippable: Bool, declinable: Bool, visible: Bool, presentation: String,
        default: JSONValue? = nil, constraints: QuestionConstraints = QuestionConstraints(),
        options: [QuestionOption]? = nil, sectionTitle: String? = nil, preference: QuestionPreference? = nil
    ) {
        self.key = key
        self.slug = slug
        self.section = section
        self.type = type
        self.text = text
        self.help = help
        self.required = required
        self.skippable = skippable
        self.declinable = declinable
        self.visible = visible
        self.presentation = presentation
        self.default = `default`
        self.constraints = constraints
        self.options = options
        self.sectionTitle = sectionTitle
        self.preference = preference
    }
}

/// One of the things that can be chosen.
public struct QuestionOption: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("key", .string(1...64)),
        .required("label", .string(1...200)),
        .required("exclusive", .boolean, "Cannot be chosen together with another."),
    ])

    public var key: String
    public var label: String
    /// Cannot be chosen together with another.
    public var exclusive: Bool

    public init(key: String, label: String, exclusive: Bool) {
        (self.key, self.label, self.exclusive) = (key, label, exclusive)
    }
}

/// What an answer must keep to. Which members are there depends on the question's type.
public struct QuestionConstraints: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .optional("min", .number(-1e9...1e9), "Least value, or least number of choices."),
        .optional("max", .number(-1e9...1e9), "Greatest value, or greatest number of choices."),
        .optional("step", .number(0.001...1e9), "Distance of two values of a slider, counted from `min`."),
        .optional("topK", .integer(1...500), "How many of the options are ranked; all of them where it is missing."),
        .optional("minLength", .integer(0...4096), "Characters as a person counts them."),
        .optional("maxLength", .integer(1...4096), "Characters as a person counts them."),
        .optional("minLabel", .string(1...200), "What the slider's low end means."),
        .optional("maxLabel", .string(1...200), "What the slider's high end means."),
        .optional("earliest", .date),
        .optional("latest", .date),
        .optional("minAge", .integer(0...200), "Years, of the person whose birthday is asked for."),
        .optional("maxAge", .integer(0...200), "Years, of the person whose birthday is asked for."),
        .optional("pattern", .string(1...32), "`person_name`, `single_line` or `digits`."),
        .optional("other", OtherConstraint.schema, "Entries of one's own, each sent as `{\"other\": text}`."),
    ])

    /// Least value, or least number of choices.
    public var min: Double?
    /// Greatest value, or greatest number of choices.
    public var max: Double?
    /// Distance of two values of a slider, counted from `min`.
    public var step: Double?
    /// How many of the options are ranked; all of them where it is missing.
    public var topK: Int64?
    /// Grapheme clusters.
    public var minLength: Int64?
    /// Grapheme clusters.
    public var maxLength: Int64?
    /// What the slider's low end means.
    public var minLabel: String?
    /// What the slider's high end means.
    public var maxLabel: String?
    public var earliest: CivilDate?
    public var latest: CivilDate?
    /// Years.
    public var minAge: Int64?
    /// Years.
    public var maxAge: Int64?
    /// `person_name`, `single_line` or `digits`.
    public var pattern: String?
    /// Entries of one's own, each sent as `{"other": text}`.
    public var other: OtherConstraint?

    public init() {}
}

/// How many entries of one's own a question takes, and how long they may be.
public struct OtherConstraint: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("maxCount", .integer(1...100)),
        .required("maxLength", .integer(1...1000), "Characters as a person counts them."),
    ])

    public var maxCount: Int64
    /// Grapheme clusters.
    public var maxLength: Int64

    public init(maxCount: Int64, maxLength: Int64) { (self.maxCount, self.maxLength) = (maxCount, maxLength) }
}
