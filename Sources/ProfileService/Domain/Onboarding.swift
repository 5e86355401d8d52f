import BusProtocol

/// A person's progress in the onboarding. It is derived from the profile and the plan, and not stored.
enum Onboarding {
    enum Status: String, Sendable, CaseIterable {
        case active
        case nonMatching = "non_matching"
        case suspended, deleted
    }
    /// The kinds of steps in the public API.
    enum Step: String, Sendable, CaseIterable {
        /// The step before there is an account. So nobody with a profile is at this step.
        case phoneVerify = "phone_verify"
        case profile, questionnaire, verification, complete
    }
    enum VisualPreferences: String, Sendable, CaseIterable {
        case notStarted = "not_started"
        case inProgress = "in_progress"
        case deferred, ready, insufficient
    }

    /// The result of verifying a photo or a document.
    enum Verification: String, Sendable, CaseIterable {
        case verified, failed
        case inReview = "in_review"
        /// The person did not consent to it.
        case declined
    }

    /// The status in the public API, one of five values. `blocked` means that there is no matching; the app can be
    /// used.
    static func onboardingStatus(_ status: Status, _ step: Step, _ visual: VisualPreferences) -> String {
        guard status == .active else { return "blocked" }
        switch (step, visual) {
        case (.phoneVerify, _), (.profile, _), (.questionnaire, _): return "questionnaire_pending"
        // A person who deferred the visual preferences goes on without them. Matching is then provisional.
        case (.verification, .ready), (.verification, .deferred): return "verification_pending"
        case (.verification, _): return "vps_pending"
        case (.complete, _): return "complete"
        }
    }

    static func matchingMode(_ status: Status, _ step: Step, _ visual: VisualPreferences) -> String {
        guard status == .active, step == .complete else { return "none" }
        return visual == .ready ? "full-confidence" : "provisional"
    }

    static func status(of record: ProfileRecord, _ plan: Plan, today: CivilDate) -> Status {
        if record.isSuspended { return .suspended }
        let isMatched = !isTooYoung(record, plan, today: today) && !hasDeclinedVerification(record, plan)
        return isMatched ? .active : .nonMatching
    }

    private static func isTooYoung(_ record: ProfileRecord, _ plan: Plan, today: CivilDate) -> Bool {
        guard let age = plan.age, let born = record.dateOfBirth else { return false }
        // A date of birth may be in the future in another time zone. That counts as too young.
        return (Age.years(born: born, on: today) ?? 0) < age.minimum
    }

    /// Whether the person declined a verification that the plan requires for matching. The person then uses the app
    /// without matching, and may be verified later.
    private static func hasDeclinedVerification(_ record: ProfileRecord, _ plan: Plan) -> Bool {
        !record.isBackfilled
            && plan.steps.contains { step in
                step.verdict(of: record) == .declined && step.isVisible(to: record)
                    && (step.need == .required || plan.capabilities[.match]?.due.contains(step.key) ?? false)
            }
    }

    /// Whether the person did everything that the step asks for.
    static func isDone(_ step: Plan.Step, _ record: ProfileRecord) -> Bool {
        switch step.kind {
        case .fields: step.requiredFields.allSatisfy { record.isSatisfied($0) }
        case .questionnaire(let key): record.questionnaires[key] != nil
        case .task(.visualPreferences): record.visualPreferences == .ready
        case .task: step.verdict(of: record) == .verified
        case .terms: step.terms.allSatisfy { record.acceptedAt($0.key) != nil }
        case .operatorTask(let key): record.operatorTasks.contains(key)
        }
    }

    /// Whether the person may go on to the next step. Visual preferences may be deferred, and verification declined.
    static func isPassed(_ step: Plan.Step, _ record: ProfileRecord) -> Bool {
        switch step.task {
        case .visualPreferences: isDone(step, record) || record.visualPreferences == .deferred
        case .verification, .idVerification: isDone(step, record) || step.verdict(of: record) == .declined
        case nil: isDone(step, record)
        }
    }

    /// Whether nothing is asked of the person at present: the step is passed, or a verification is under way.
    static func isSettled(_ step: Plan.Step, _ record: ProfileRecord) -> Bool {
        isPassed(step, record) || step.verdict(of: record) == .inReview
    }

    /// The first required step that the person has not passed; `nil` if the onboarding is complete.
    static func current(of record: ProfileRecord, _ plan: Plan) -> Plan.Step? {
        // A backfill does not accept texts for people. But people who were complete before it stay complete.
        let isHeld = !record.isBackfilled || !record.completedPlans.contains(plan.reference)
        return plan.steps.first { step in
            step.need == .required && isHeld && (!record.isBackfilled || !step.terms.isEmpty)
                && step.isVisible(to: record) && !isPassed(step, record)
        }
    }

    /// The values from which all statements about a person's onboarding follow.
    struct Position {
        let status: Status
        /// `nil` if the onboarding is complete.
        let current: Plan.Step?
        /// Without that step, the visual preferences count as ready.
        let visual: VisualPreferences
        /// For a person who is too young: the day on which the person is old enough.
        let eligibleOn: CivilDate?
        private let isMatching: Bool

        init(of record: ProfileRecord, _ plan: Plan, today: CivilDate) {
            status = Onboarding.status(of: record, plan, today: today)
            current = Onboarding.current(of: record, plan)
            let isVisualAsked = plan.step(.visualPreferences)?.isVisible(to: record) ?? false
            visual = isVisualAsked ? record.visualPreferences : .ready
            eligibleOn =
                status == .nonMatching && isTooYoung(record, plan, today: today)
                ? record.dateOfBirth.flatMap { plan.eligibleOn(born: $0) } : nil
            isMatching = plan.capabilities[.match] != nil
        }

        var step: Step {
            switch current?.kind {
            case .fields, .terms: .profile
            case .questionnaire: .questionnaire
            case .task, .operatorTask: .verification
            case nil: .complete
            }
        }

        var onboardingStatus: String {
            // A person who is at a verification, or waits for the operator, may go on without the visual preferences.
            let isPast = current?.task?.isVerification == true || current?.operatorTask != nil
            return Onboarding.onboardingStatus(status, step, isPast ? .ready : visual)
        }
        /// In an app without matching, nobody is matched.
        var matchingMode: String { isMatching ? Onboarding.matchingMode(status, step, visual) : "none" }
    }

    static func view(of record: ProfileRecord, _ plan: Plan, today: CivilDate) -> OnboardingView {
        let position = Position(of: record, plan, today: today)
        // A person with a profile has an account.
        var steps = [OnboardingStep(key: plan.account, state: "done", kind: "account", need: "required")]
        steps.reserveCapacity(1 + plan.steps.count)
        for step in plan.steps where step.isVisible(to: record) {
            let isDone = record.isBackfilled && step.terms.isEmpty || isDone(step, record)
            let state = step === position.current ? "current" : isDone ? "done" : "pending"
            steps.append(view(of: step, record, plan, state: state))
        }
        let additions = plan.additions?.steps(for: record).map { step in
            var addition = view(of: step, record, plan, state: isSettled(step, record) ? "done" : "pending")
            addition.dueAt = plan.additions?.newest.dates[step.key]
            return addition
        }
        return OnboardingView(
            onboardingStatus: position.onboardingStatus, onboardingStep: position.step.rawValue,
            matchingMode: position.matchingMode, provisionalMaxOffers: plan.provisionalMaxOffers,
            next: position.current.map(NextStep.init), resumeAt: position.current?.key, steps: steps,
            eligibleOn: position.eligibleOn,
            plan: PlanVersion(key: plan.reference.key, version: plan.reference.version),
            additions: additions.flatMap { $0.isEmpty ? nil : $0 })
    }

    private static func view(
        of step: Plan.Step, _ record: ProfileRecord, _ plan: Plan, state: String
    ) -> OnboardingStep {
        let terms = step.terms.map {
            TermsText(
                document: $0.key.document, version: $0.key.version, url: $0.url, acceptedAt: record.acceptedAt($0.key))
        }
        let deferredAt = step.task == .visualPreferences ? record.visualDeferredAt : nil
        return OnboardingStep(
            key: step.key, state: state, kind: step.kindName, need: step.need.rawValue, href: step.href,
            questionnaire: step.questionnaire, terms: terms.isEmpty ? nil : terms,
            askAgainAt: deferredAt.map { $0 + plan.completion.repromptAfter })
    }
}

extension Plan {
    /// The key of the step before the plan's own: the account.
    var account: String { signIn.phone == .required ? "phone" : "account" }
}

extension NextStep {
    init(_ step: Plan.Step) {
        self.init(step: step.key, kind: step.kindName, href: step.href, questionnaire: step.questionnaire)
    }
}

extension Plan.Step.Kind {
    /// As ``Plan/Step/href`` says.
    var href: String? {
        switch self {
        case .fields: GetProfileFields.route.path
        case .questionnaire(let key): "/questionnaires/\(key)/sessions"
        case .terms: AcceptTerms.route.path
        case .task(.visualPreferences): GetVisualSession.route.path
        case .task(.verification): BeginVerification.route.path
        case .task(.idVerification): BeginDocumentVerification.route.path
        case .operatorTask: nil
        }
    }
}

extension Plan.Step {
    /// The kind in the public API.
    var kindName: String {
        switch kind {
        case .fields: "fields"
        case .questionnaire: "questionnaire"
        case .task(let task): task.rawValue
        case .terms: "terms"
        case .operatorTask: "operator"
        }
    }
}
