/// How much a change asks of people who are under way. A version's class is the gravest of its changes.
enum ChangeClass: String, Sendable, CaseIterable, Comparable {
    /// Words and places; no answer is touched.
    case editorial
    /// More is possible; what was answered stays valid.
    case additive
    /// Nothing is asked again; scores are summed up anew.
    case rescore
    /// Some answers are missing now, or none any more.
    case reask
    /// Answers lose what they were given to.
    case breaking

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    static func < (a: ChangeClass, b: ChangeClass) -> Bool { a.rank < b.rank }
}

/// One thing in which a version differs from the one before it.
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

        /// Not among the kinds that the rules name; judged with care.
        case unlisted

        /// Where no migration says what becomes of the answers.
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
    /// `reask` for a breaking kind with a migration that says what becomes of the answers.
    var changeClass: ChangeClass
    /// JSON Pointer into the new version; of what was removed, into the old one.
    var pointer: String
    /// The questions, options, sections, strings or languages that it is about.
    var keys: [String]
}
