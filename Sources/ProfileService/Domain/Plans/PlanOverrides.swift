/// Settings of the default plan from variables that are older than plans. The next release does not read them.
struct PlanOverrides: Sendable {
    /// Whether photo verification is a step, and needed for every capability but browsing.
    var requiresVerification: Bool?
    /// Whether visual preferences are a step.
    var requiresVisualSignal: Bool?
    /// The questionnaire in place of the plan's.
    var questionnaire: String?
    /// Whether the date of birth of a person who is too young is refused instead of stored.
    var refusesUnderage: Bool?
    var repromptAfter: Duration?
    var provisionalMaxOffers: Int64?

    func applied(to plan: Plan) -> Plan {
        var (steps, capabilities, age) = (plan.steps, plan.capabilities, plan.age)
        for (task, isRequired) in [
            (Plan.Task.verification, requiresVerification), (.visualPreferences, requiresVisualSignal),
        ] {
            guard let isRequired, let place = steps.firstIndex(where: { $0.task == task }) else { continue }
            let step = steps[place]
            let key = step.key
            if isRequired {
                steps[place] = Plan.Step(key: key, need: .required, kind: step.kind, visibleIf: step.visibleIf)
            } else {
                steps.remove(at: place)
            }
            for capability in capabilities.keys {
                if !isRequired {
                    capabilities[capability]?.due.removeAll { $0 == key }
                } else if task == .verification, capability != .browse,
                    capabilities[capability]?.due.contains(key) == false
                {
                    capabilities[capability]?.due.append(key)
                }
            }
        }
        if let questionnaire, let place = steps.firstIndex(where: { $0.questionnaire != nil }) {
            let step = steps[place]
            steps[place] = Plan.Step(
                key: step.key, need: step.need, kind: .questionnaire(questionnaire), visibleIf: step.visibleIf)
        }
        if let refusesUnderage { age?.refuses = refusesUnderage }
        return Plan(
            reference: plan.reference, apps: plan.apps, entries: plan.entries, signIn: plan.signIn, age: age,
            steps: steps, capabilities: capabilities, repromptAfter: repromptAfter ?? plan.completion.repromptAfter,
            provisionalMaxOffers: provisionalMaxOffers ?? plan.provisionalMaxOffers, wishes: plan.wishes,
            catalogue: plan.catalogue, dates: plan.dates, movesFrom: plan.movesFrom)
    }
}
