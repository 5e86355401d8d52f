import JSONText

/// One field as a client sees it; which of the bounds are there depends on its type.
public struct ProfileFieldView: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("key", .string(1...64)), .required("label", .string(1...200)), .required("step", .integer(1...64)),
        .required(
            "type", .string(1...64), "text, date, single_choice, multi_choice, integer, boolean, url, coordinates"),
        .required("category", .string(1...64), "required, encouraged, optional"), .required("required", .boolean),
        .required("encouraged", .boolean), .required("sensitive", .boolean), .required("skippable", .boolean),
        .required("allowsPreferNotToSay", .boolean, "Takes prefer_not_to_say in place of a value"),
        .required("visibility", .string(1...64), "public: shown to others; private: to the person only"),
        .required(
            "capabilities", .array(of: .string(1...64), count: 0...16), "like, match, message, full_confidence"),
        .required(
            "storage", .string(1...64), "The form in which it is kept: text, text[], date, integer, boolean, object"),
        .optional("format", .string(1...64), "Of a text: person_name, single_line, free_text"),
        .optional("min", .integer(-1_000_000...1_000_000)), .optional("max", .integer(-1_000_000...1_000_000)),
        .optional("minLength", .integer(0...4096), "Grapheme clusters"),
        .optional("maxLength", .integer(0...4096), "Grapheme clusters; of a url, bytes"),
        .optional("minAge", .integer(0...150), "Who is younger is stored and not matched"),
        .optional("maxAge", .integer(0...150)), .optional("maxSelections", .integer(1...500)),
        .optional("unit", .string(1...64)),
        .optional("suggestion", .integer(-1_000_000...1_000_000), "Where an input starts; never stored unasked"),
        .optional("options", .array(of: ProfileOption.schema, count: 1...500)),
        .required("pattern", NativePattern.schema),
    ])
    public var key: String
    public var label: String
    public var step: Int64
    public var type: String
    public var category: String
    public var required: Bool
    public var encouraged: Bool
    public var sensitive: Bool
    public var skippable: Bool
    public var allowsPreferNotToSay: Bool
    public var visibility: String
    public var capabilities: [String]
    public var storage: String
    public var format: String?
    public var min: Int64?
    public var max: Int64?
    public var minLength: Int64?
    public var maxLength: Int64?
    public var minAge: Int64?
    public var maxAge: Int64?
    public var maxSelections: Int64?
    public var unit: String?
    public var suggestion: Int64?
    public var options: [ProfileOption]?
    public var pattern: NativePattern

    /// A field without bounds and options.
    public init(
        key: String, label: String, step: Int64, type: String, category: String, sensitive: Bool, skippable: Bool,
        allowsPreferNotToSay: Bool, visibility: String, capabilities: [String], storage: String, pattern: NativePattern
    ) {
        (self.key, self.label, self.step, self.type, self.category) = (key, label, step, type, category)
        (required, encouraged) = (category == "required", category == "encouraged")
        (self.sensitive, self.skippable, self.allowsPreferNotToSay) = (sensitive, skippable, allowsPreferNotToSay)
        (self.visibility, self.capabilities, self.storage) = (visibility, capabilities, storage)
        self.pattern = pattern
    }
}
