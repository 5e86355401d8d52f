import JSONText

// Values of the public API that stand in several messages, and enumerations whose set is open: a later release may have more.
extension JSONSchema {
    static let platform = JSONSchema.string(StringRule(values: OpenSession.platforms)).named(
        "Platform", "What a device runs.")
    static let identityProvider = JSONSchema.values("apple", "google").named(
        "IdentityProvider", "Who vouches for an identity.")
    static let accountStatus = JSONSchema.open("active", "suspended").named(
        "AccountStatus", "Whether an account can be used.")

    static let onboardingStatus = JSONSchema.open(
        "questionnaire_pending", "vps_pending", "verification_pending", "complete", "blocked"
    ).named("OnboardingStatus", "What the person has to do before matching. `blocked`: there is no matching.")
    static let onboardingStep = JSONSchema.open("profile", "questionnaire", "verification", "complete").named(
        "OnboardingStepName", "The step that the person is at.")
    static let matchingMode = JSONSchema.open("none", "provisional", "full-confidence").named(
        "MatchingMode", "How the person takes part in matching.")
    static let stepState = JSONSchema.values("done", "current", "pending").named("StepState", "How far a step is.")
    static let stepKind = JSONSchema.open(
        "account", "fields", "questionnaire", "visual_preferences", "verification", "id_verification", "terms",
        "operator"
    ).named("OnboardingStepKind", "What a step asks for.")
    static let capability = JSONSchema.open(1...64, "browse", "like", "match", "message", "full_confidence").named(
        "Capability", "Something that a person may do in the app.")
    static let disabledReason = JSONSchema.open(
        1...64, "suspended", "underage", "requirements_due", "pending_verification", "verification_declined",
        "not_offered"
    ).named("DisabledReason", "Why a capability is disabled.")

    static let fieldType = JSONSchema.open(
        1...64, "text", "date", "single_choice", "multi_choice", "integer", "boolean", "url", "coordinates"
    ).named(
        "ProfileFieldType",
        """
        What kind of value a field takes. `text`: a text. `url`: an https address. `date`: `YYYY-MM-DD`. `single_choice`: the \
        `key` of an option. `multi_choice`: a list of keys. `integer`: a whole number. `boolean`: true or false. \
        `coordinates`: `{"latitude": 55.61, "longitude": 13}`.
        """)
    static let fieldCategory = JSONSchema.open(1...64, "required", "encouraged", "optional").named(
        "ProfileFieldCategory", "How much a field or a step is wanted.")
    static let fieldVisibility = JSONSchema.open(1...64, "public", "private").named(
        "ProfileFieldVisibility", "Who is shown a field.")
    static let fieldStorage = JSONSchema.open(
        1...64, "text", "text[]", "date", "integer", "boolean", "object"
    ).named("ProfileFieldStorage", "The form in which a field is kept.")
    static let fieldFormat = JSONSchema.open(1...64, "person_name", "single_line", "free_text").named(
        "ProfileFieldFormat", "The form that a text is held to.")

    // Named, since a class that datamodel-codegen makes of a nameless deprecated text or number refuses every value.
    static let stepField = JSONSchema.string(1...64).named("StepField", "Key of a field to ask.")
    static let stepKey = JSONSchema.string(1...64).named("StepKey", "Key of a step of the plan.")
    static let stepNumber = JSONSchema.integer(1...64).named("StepNumber", "Number of a step of the profile.")

    static let questionKey = JSONSchema.string(1...64).named("QuestionKey", "Key of a question.")
    static let questionType = JSONSchema.open(
        "single_choice", "multi_choice", "slider", "ranking", "tags", "text", "date", "number", "height", "boolean",
        "info"
    ).named(
        "QuestionType",
        """
        What kind of answer a question takes, and so the form of its `value`. `single_choice`: the `key` of an option. \
        `multi_choice`, `tags`: a list of keys. `ranking`: a list of `topK` keys, or of all, the most important first. \
        `slider`, `number`: a number. `text`: a text. `date`: `YYYY-MM-DD`. `height`: `{"unit": "cm", "value": 170}`, or with \
        the unit `in`. `boolean`: true or false. `info`: none, with the state `acknowledged`.
        """)
    static let presentation = JSONSchema.open(
        "radio", "select", "chips", "slider", "list", "field", "area", "date", "height", "switch", "screen"
    ).named("Presentation", "How a client shows a question.")
    static let control = JSONSchema.open(
        "radio", "select", "chips", "ranking", "slider", "number", "text", "text_area", "date", "height", "switch",
        "screen", "upload"
    ).named("Control", "What a client draws for a question.")
    static let textFormat = JSONSchema.open("person_name", "single_line", "digits", "https_url", "media_id").named(
        "TextFormat", "The form that a text answer is held to.")
    static let nextReason = JSONSchema.open("unanswered", "stale", "newly_visible", "subject_wanted").named(
        "NextQuestionReason",
        "Why a question is the next one. `subject_wanted`: its section needs another subject; `PUT …/subjects/{uuid}` adds it."
    )
    static let givenState = JSONSchema.values("answered", "skipped", "declined", "acknowledged").named(
        "GivenAnswerState", "What the person did with a question.")
    static let changeClass = JSONSchema.open("editorial", "additive", "rescore", "reask", "breaking").named(
        "ChangeClass", "How much a new version asks of people who are under way.")
    static let versionStatus = JSONSchema.open("published", "retired").named(
        "QuestionnaireVersionStatus", "Whether a version can still be begun.")
    static let severity = JSONSchema.open("error", "warning").named(
        "DraftFindingSeverity", "Whether a finding keeps the draft from being published.")

    static let codePurpose = JSONSchema.values("login", "recovery", "change_phone").named(
        "CodePurpose", "What a code is for.")
    static let emailCodePurpose = JSONSchema.values("login", "link_email").named(
        "EmailCodePurpose", "What a code to an email address is for.")
    static let recoveryStatus = JSONSchema.open(
        "held", "identity_required", "in_review", "approved", "completing", "completed", "disputed", "contested",
        "rejected", "cancelled", "expired"
    ).named("RecoveryStatus", "Where a recovery stands.")
    static let recoveryProof = JSONSchema.open("device", "linked_identity", "former_number").named(
        "RecoveryProof", "What of the account a claimant has shown.")
    static let verdict = JSONSchema.open("yes", "no", "undecided").named(
        "EvidenceVerdict", "What a provider of evidence says of a claimant.")

    /// The same set as a closed one: a value that this release does not know is refused.
    var closed: JSONSchema {
        switch self {
        case .string(var rule):
            (rule.values, rule.known) = (rule.known, nil)
            return .string(rule)
        case .named(let name, let inner): return .named(name, inner.closed)
        default: return self
        }
    }
}
