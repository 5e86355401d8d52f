import Documents

/// One difference between a version and the one before it. A breaking kind with a migration has the class `reask`.
typealias DefinitionChange = DocumentChange<DefinitionChangeKind>

/// The kinds of changes of a definition.
enum DefinitionChangeKind: String, CaseIterable, ChangeKind {
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
