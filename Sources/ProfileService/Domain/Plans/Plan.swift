import BusProtocol

/// One version of a plan: the steps until a person's onboarding is complete, and the needs of each capability. A
/// version never changes, and each person follows one.
final class Plan: Sendable {
    /// How much a step or a field is wanted.
    typealias Need = ProfileField.Category

    enum Capability: String, Sendable, CaseIterable {
        case browse, like, match, message
        case fullConfidence = "full_confidence"
    }

    /// A task that another service does with the person.
    enum Task: String, Sendable {
        case visualPreferences = "visual_preferences"
        /// By a photo.
        case verification
        /// By a document.
        case idVerification = "id_verification"

        /// By the level of a decision.
        static let verifying: [String: Task] = ["photo": .verification, "id": .idVerification]

        var isVerification: Bool { self != .visualPreferences }
    }

    /// One version of a text of a plan. Other plans may have texts with the same name.
    struct TermsKey: Sendable, Hashable {
        /// Empty for a consent from before consents had a plan.
        var plan: String
        let document: String
        let version: String
    }

    struct Terms: Sendable {
        let key: TermsKey
        let url: String
    }

    /// A step never changes. It is a class since each request looks at all steps, and copies of structs count the references
    /// of all their members.
    final class Step: Sendable {
        enum Kind: Sendable {
            /// The fields of its screens.
            case fields([ProfileField])
            /// A questionnaire by its key.
            case questionnaire(String)
            case task(Task)
            /// Texts that the person accepts, each in one version.
            case terms([Terms])
            /// A task that the operator's own system does, by its key.
            case operatorTask(String)
        }

        let key: String
        let need: Need
        let kind: Kind
        /// When the person is asked for the step; `nil` if always.
        let visibleIf: PlanCondition?
        // Only one of these is set: the one for the step's kind.
        let task: Task?
        let questionnaire: String?
        let terms: [Terms]
        let operatorTask: String?
        let fields: [ProfileField]
        let requiredFields: [ProfileField]
        /// Where an app reads the fields, opens a questionnaire session or a verification session, or accepts texts;
        /// `nil` if the app has nothing to do.
        let href: String?

        init(key: String, need: Need, kind: Kind, visibleIf: PlanCondition?) {
            (self.key, self.need, self.kind, self.visibleIf) = (key, need, kind, visibleIf)
            task = if case .task(let task) = kind { task } else { nil }
            questionnaire = if case .questionnaire(let key) = kind { key } else { nil }
            terms = if case .terms(let terms) = kind { terms } else { [] }
            operatorTask = if case .operatorTask(let key) = kind { key } else { nil }
            fields = if case .fields(let fields) = kind { fields } else { [] }
            requiredFields = fields.filter { $0.category == .required }
            href = kind.href
        }

        /// Whether the person is asked for the step. Everybody is asked for a step without a condition.
        func isVisible(to record: ProfileRecord) -> Bool { visibleIf?.holds(for: record) ?? true }

        /// The result of the step, if it is a verification.
        func verdict(of record: ProfileRecord) -> Onboarding.Verification? {
            task.flatMap { record[verdictOf: $0] }
        }
        /// Whether a backfill replaces the step. It replaces neither consent nor the visual preferences, which decide
        /// how well people match.
        var isReplacedByBackfill: Bool { task != .visualPreferences && terms.isEmpty }
    }

    /// The needs of a capability: keys of fields and steps, in order.
    struct Needs: Sendable {
        /// The capability is disabled until these are there.
        var due: [String] = []
        /// These are wanted but not necessary.
        var wanted: [String] = []
    }

    enum PhonePolicy: String, Sendable { case required, optional, none }

    struct SignIn: Sendable {
        let methods: [String]
        let phone: PhonePolicy
    }

    struct AgeRule: Sendable {
        /// In years.
        let minimum: Int
        /// Whether the date of birth of a younger person is refused instead of stored.
        var refuses: Bool
    }

    let reference: PlanReference
    let apps: Set<String>
    let entries: Set<String>
    let signIn: SignIn
    let age: AgeRule?
    let steps: [Step]
    /// The capabilities that the app has. Others are not offered.
    let capabilities: [Capability: Needs]
    let completion: CompletionRules
    /// How many people are offered while a person is matched provisionally; `nil` if there is no limit.
    let provisionalMaxOffers: Int64?
    /// The wishes of people about each other, by the newest version of the plan.
    let wishes: [PlanFile.Wish]
    let catalogue: FieldCatalogue
    /// When steps and fields become past due for people who follow an older version, by their keys.
    let dates: [String: Timestamp]
    /// The older versions whose people move to this one.
    let movesFrom: Set<Int64>
    /// The steps and fields that the newest version adds for people who follow this one; `nil` if this is the newest.
    let additions: PlanAdditions?
    /// The fields that people may answer: those of the plan, and those that the newest version adds.
    let answerable: FieldCatalogue

    init(
        reference: PlanReference, apps: Set<String>, entries: Set<String>, signIn: SignIn, age: AgeRule?,
        steps: [Step], capabilities: [Capability: Needs], repromptAfter: Duration, provisionalMaxOffers: Int64?,
        wishes: [PlanFile.Wish], catalogue: FieldCatalogue, dates: [String: Timestamp], movesFrom: Set<Int64>,
        additions: PlanAdditions? = nil
    ) {
        (self.reference, self.apps, self.entries, self.signIn) = (reference, apps, entries, signIn)
        (self.age, self.steps, self.capabilities) = (age, steps, capabilities)
        (self.provisionalMaxOffers, self.wishes, self.catalogue) = (provisionalMaxOffers, wishes, catalogue)
        (self.dates, self.movesFrom, self.additions) = (dates, movesFrom, additions)
        answerable = additions?.answerable(beside: catalogue) ?? catalogue
        let conditional = steps.compactMap { step in
            step.visibleIf.map { ConditionalFields(condition: $0, keys: Set(step.fields.map(\.key))) }
        }
        completion = CompletionRules(catalogue: catalogue, conditional: conditional, repromptAfter: repromptAfter)
    }

    /// The plan for people who still follow it while there is a newer version.
    func followed(beside newest: Plan) -> Plan {
        Plan(
            reference: reference, apps: apps, entries: entries, signIn: signIn, age: age, steps: steps,
            capabilities: capabilities, repromptAfter: completion.repromptAfter,
            provisionalMaxOffers: provisionalMaxOffers, wishes: newest.wishes, catalogue: catalogue, dates: dates,
            movesFrom: movesFrom, additions: PlanAdditions(of: newest, to: self))
    }

    /// The steps of the plan, and those that the newest version asks for with a date.
    var askedSteps: [Step] { steps + (additions?.steps ?? []) }

    /// The versions of texts that a person may accept: those of the plan, then those that only the newest version has.
    var acceptable: [TermsKey] {
        (steps + (additions?.newest.steps ?? [])).flatMap(\.terms).map(\.key).reduce(into: []) { keys, key in
            if !keys.contains(key) { keys.append(key) }
        }
    }

    /// The questionnaires that are steps.
    var questionnaires: [String] { steps.compactMap(\.questionnaire) }

    func step(_ key: String) -> Step? { steps.first { $0.key == key } }
    func step(_ task: Task) -> Step? { steps.first { $0.task == task } }

    /// The steps that a person is asked for, in order.
    func steps(for record: ProfileRecord) -> [Step] { steps.filter { $0.isVisible(to: record) } }

    /// The day on which a person reaches the minimum age; `nil` without an age rule.
    func eligibleOn(born: CivilDate) -> CivilDate? { age.map { Age.eligibleOn(born: born, minimum: $0.minimum) } }
}

/// Names one version of a plan.
struct PlanReference: Sendable, Hashable {
    let key: String
    let version: Int64
}
