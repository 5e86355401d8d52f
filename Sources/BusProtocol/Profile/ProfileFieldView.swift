import JSONText

/// One field as a client sees it. Its type decides which bounds are present.
@Message
public struct ProfileFieldView: MessageValue {
    /// The key of the field.
    @Field(.string(1...64), example: "bio") public var key: String
    /// The text to show.
    @Field(.string(1...200), example: "About you") public var label: String
    /// The step that asks for the field.
    @Field(.integer(1...64), example: 4) public var step: Int64
    /// `text`, `date`, `single_choice`, `multi_choice`, `integer`, `boolean`, `url` or `coordinates`.
    @Field(.fieldType) public var type: String
    /// `required`, `encouraged` or `optional`.
    @Field(.fieldCategory) public var category: String
    /// Whether the category is `required`.
    public var required: Bool
    /// Whether the category is `encouraged`.
    public var encouraged: Bool
    /// Whether the value needs special protection.
    public var sensitive: Bool
    /// Whether the field may be skipped.
    public var skippable: Bool
    /// Accepts `prefer_not_to_say` instead of a value.
    public var allowsPreferNotToSay: Bool
    /// `public`: others see it. `private`: only the person sees it.
    @Field(.fieldVisibility) public var visibility: String
    /// The capabilities that need the field: `like`, `match`, `message` and `full_confidence`.
    @Field(.capability, count: 0...16) public var capabilities: [String]
    /// The form in which the value is stored: `text`, `text[]`, `date`, `integer`, `boolean` or `object`.
    @Field(.fieldStorage) public var storage: String
    /// The form of a text: `person_name`, `single_line` or `free_text`.
    @Field(.fieldFormat) public var format: String?
    /// The smallest value.
    @Field(.integer(-1_000_000...1_000_000), example: 120) public var min: Int64?
    /// The largest value.
    @Field(.integer(-1_000_000...1_000_000), example: 250) public var max: Int64?
    /// The shortest text, in grapheme clusters.
    @Field(.integer(0...4096)) public var minLength: Int64?
    /// The longest text, in grapheme clusters; of a `url`, in bytes.
    @Field(.integer(0...4096)) public var maxLength: Int64?
    /// The age in years from which a person is matched. The date of a younger person is stored too.
    @Field(.integer(0...150)) public var minAge: Int64?
    /// The highest age in years.
    @Field(.integer(0...150)) public var maxAge: Int64?
    /// The most options that may be chosen.
    @Field(.integer(1...500)) public var maxSelections: Int64?
    /// The unit of the value.
    @Field(.string(1...64)) public var unit: String?
    /// Where an input starts. It is never stored by itself.
    @Field(.integer(-1_000_000...1_000_000), example: 170) public var suggestion: Int64?
    /// The options of a choice field.
    @Field(count: 1...500) public var options: [ProfileOption]?
    /// The control that suits the field on each platform.
    public var controls: PlatformControls?
    /// The same as `controls`, which is the name to use.
    @Field(isDeprecated: true) public var pattern: PlatformControls
    /// True: the person may correct a value once within 24 hours. Then only staff can change it.
    public var setOnce: Bool?
    /// A search that finds values while the person types.
    public var lookup: FieldLookup?
    /// The numbers in a value that is an object. All of them are required.
    @Field(count: 1...16) public var members: [FieldMember]?

    /// Makes a field without bounds and options.
    public init(
        key: String, label: String, step: Int64, type: String, category: String, sensitive: Bool, skippable: Bool,
        allowsPreferNotToSay: Bool, visibility: String, capabilities: [String], storage: String,
        pattern: PlatformControls
    ) {
        (self.key, self.label, self.step, self.type, self.category) = (key, label, step, type, category)
        (required, encouraged) = (category == "required", category == "encouraged")
        (self.sensitive, self.skippable, self.allowsPreferNotToSay) = (sensitive, skippable, allowsPreferNotToSay)
        (self.visibility, self.capabilities, self.storage) = (visibility, capabilities, storage)
        self.pattern = pattern
    }
}
