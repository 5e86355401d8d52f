import Documents

/// One difference between a version of a plan and the one before it.
typealias PlanChange = DocumentChange<PlanChangeKind>

/// The kinds of changes of a plan.
enum PlanChangeKind: String, CaseIterable, ChangeKind {
    case stringChanged = "string_changed"
    case titleChanged = "title_changed"
    case labelChanged = "label_changed"
    case stepOrder = "step_order"
    /// Fields have another order or are on other screens.
    case screens = "screens_changed"
    case appOrder = "app_order"
    /// A text has another address.
    case termsMoved = "terms_moved"

    case optionalStepAdded = "optional_step_added"
    case optionalFieldAdded = "optional_field_added"
    /// A required step or field is no longer required, or an encouraged one is optional.
    case needLowered = "need_lowered"
    case needEncouraged = "need_encouraged"
    case localeAdded = "locale_added"
    case appAdded = "app_added"
    case entryAdded = "entry_added"
    case boundWidened = "bound_widened"
    case optionsAdded = "options_added"
    case capabilityAdded = "capability_added"
    case capabilityNeedsFewer = "capability_needs_fewer"
    /// The fields and steps that a capability wants but does not require.
    case capabilityWants = "capability_wants"
    case methodAdded = "method_added"
    case phoneNotRequired = "phone_not_required"
    case policyChanged = "policy_changed"

    case requiredStepAdded = "required_step_added"
    case requiredFieldAdded = "required_field_added"
    case needRequired = "need_required"
    /// The step is asked of other people.
    case stepCondition = "step_condition"
    /// Another version of a text, or other texts.
    case termsChanged = "terms_changed"
    case boundNarrowed = "bound_narrowed"
    case optionsRemoved = "options_removed"
    case capabilityNeedsMore = "capability_needs_more"
    case ageRule = "age_rule"
    case methodRemoved = "method_removed"
    case phoneRequired = "phone_required"
    case appRemoved = "app_removed"
    case entryRemoved = "entry_removed"
    /// Another date of a step or field that was there before.
    case dateChanged = "date_changed"

    case stepRemoved = "step_removed"
    case fieldRemoved = "field_removed"
    /// The step asks for another kind of thing, or for another task.
    case stepKind = "step_kind"
    case stepQuestionnaire = "step_questionnaire"
    case capabilityRemoved = "capability_removed"
    case lastAppRemoved = "last_app_removed"
    /// People of older versions follow this one from now on.
    case peopleMoved = "people_moved"

    /// A change that the rules do not name.
    case unlisted

    var changeClass: ChangeClass {
        switch self {
        case .stringChanged, .titleChanged, .labelChanged, .stepOrder, .screens, .appOrder, .termsMoved: .editorial
        case .optionalStepAdded, .optionalFieldAdded, .needLowered, .needEncouraged, .localeAdded, .appAdded,
            .entryAdded, .boundWidened, .optionsAdded, .capabilityAdded, .capabilityNeedsFewer, .capabilityWants,
            .methodAdded, .phoneNotRequired, .policyChanged:
            .additive
        case .requiredStepAdded, .requiredFieldAdded, .needRequired, .stepCondition, .termsChanged, .boundNarrowed,
            .optionsRemoved,
            .capabilityNeedsMore, .ageRule, .methodRemoved, .phoneRequired, .appRemoved, .entryRemoved, .dateChanged,
            .unlisted:
            .reask
        case .stepRemoved, .fieldRemoved, .stepKind, .stepQuestionnaire, .capabilityRemoved, .lastAppRemoved,
            .peopleMoved:
            .breaking
        }
    }
}
