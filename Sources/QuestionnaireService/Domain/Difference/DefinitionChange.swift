/// How grave a change is for people with open sessions. The class of a version is that of its gravest change.
enum ChangeClass: String, Sendable, CaseIterable, Comparable {
    /// Texts and order change. No answer is affected.
    case editorial
    /// More becomes possible. All answers stay valid.
    case additive
    /// Scores are calculated again. No question is asked again.
    case rescore
    /// Some answers are missing or no longer valid.
    case reask
    /// Some answers lose their question or option.
    case breaking

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    static func < (a: ChangeClass, b: ChangeClass) -> Bool { a.rank < b.rank }
}

/// One difference between a version and the one before it.
struct DefinitionChange: Sendable, Hashable {
    enum Kind: String, Sendable, CaseIterable {
        case questionText = "question_text"
        case helpText = "help_text"
        case optionLabel = "option_label"
        case sectionTitle = "section_title"
        case presentation
        case questionOrder = "question_order"
        case optionOrder = "option_order"
        case stringChanged = "string_changed"

        case optionalQuestionAdded = "optional_question_added"
        case optionAdded = "option_added"
        case maxSelectionsRaised = "max_selections_raised"
        case minSelectionsLowered = "min_selections_lowered"
        case rangeWidened = "range_widened"
        case textLengthRaised = "text_length_raised"
        case requiredToOptional = "required_to_optional"
        case skippableOn = "skippable_on"
        case declinableOn = "declinable_on"
        case localeAdded = "locale_added"
        case optionalSectionAdded = "optional_section_added"

        case scoringChanged = "scoring_changed"

        case requiredQuestionAdded = "required_question_added"
        case optionalToRequired = "optional_to_required"
        case rangeNarrowed = "range_narrowed"
        case maxSelectionsLowered = "max_selections_lowered"
        case visibilityChanged = "visibility_changed"
        case meaningRaised = "meaning_raised"

        case questionRemoved = "question_removed"
        case optionRemoved = "option_removed"
        case typeChanged = "type_changed"
        case keyRenamed = "key_renamed"

        /// A change that the rules do not name.
        case unlisted

        /// The class without a migration.
        var changeClass: ChangeClass {
            switch self {
            case .questionText, .helpText, .optionLabel, .sectionTitle, .presentation, .questionOrder, .optionOrder,
                .stringChanged:
                .editorial
            case .optionalQuestionAdded, .optionAdded, .maxSelectionsRaised, .minSelectionsLowered, .rangeWidened,
                .textLengthRaised, .requiredToOptional, .skippableOn, .declinableOn, .localeAdded,
                .optionalSectionAdded:
                .additive
            case .scoringChanged: .rescore
            case .requiredQuestionAdded, .optionalToRequired, .rangeNarrowed, .maxSelectionsLowered, .visibilityChanged,
                .meaningRaised, .unlisted:
                .reask
            case .questionRemoved, .optionRemoved, .typeChanged, .keyRenamed: .breaking
            }
        }
    }

    var kind: Kind
    /// The class of the kind, or `reask` for a breaking kind with a migration.
    var changeClass: ChangeClass
    /// JSON Pointer into the new version, or into the old one for something removed.
    var pointer: String
    /// The questions, options, sections, strings or languages that the change is about.
    var keys: [String]
}
