import JSONText

/// One field as a client sees it; which of the bounds are there depends on its type.
@Message
public struct ProfileFieldView: MessageValue {
    @Field(.string(1...64)) public var key: String
    @Field(.string(1...200)) public var label: String
    @Field(.integer(1...64)) public var step: Int64
    /// text, date, single_choice, multi_choice, integer, boolean, url, coordinates.
    @Field(.string(1...64)) public var type: String
    /// required, encouraged, optional.
    @Field(.string(1...64)) public var category: String
    public var required: Bool
    public var encouraged: Bool
    public var sensitive: Bool
    public var skippable: Bool
    /// Takes prefer_not_to_say in place of a value.
    public var allowsPreferNotToSay: Bool
    /// public: shown to others; private: to the person only.
    @Field(.string(1...64)) public var visibility: String
    /// like, match, message, full_confidence.
    @Field(.string(1...64), count: 0...16) public var capabilities: [String]
    /// The form in which it is kept: text, text[], date, integer, boolean, object.
    @Field(.string(1...64)) public var storage: String
    /// Of a text: person_name, single_line, free_text.
    @Field(.string(1...64)) public var format: String?
    @Field(.integer(-1_000_000...1_000_000)) public var min: Int64?
    @Field(.integer(-1_000_000...1_000_000)) public var max: Int64?
    /// Grapheme clusters.
    @Field(.integer(0...4096)) public var minLength: Int64?
    /// Grapheme clusters; of a url, bytes.
    @Field(.integer(0...4096)) public var maxLength: Int64?
    /// Who is younger is stored and not matched.
    @Field(.integer(0...150)) public var minAge: Int64?
    @Field(.integer(0...150)) public var maxAge: Int64?
    @Field(.integer(1...500)) public var maxSelections: Int64?
    @Field(.string(1...64)) public var unit: String?
    /// Where an input starts; never stored unasked.
    @Field(.integer(-1_000_000...1_000_000)) public var suggestion: Int64?
    @Field(count: 1...500) public var options: [ProfileOption]?
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
