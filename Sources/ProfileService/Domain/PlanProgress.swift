import BusProtocol

/// The steps of a plan that a person has done, as the plan's funnel counts them.
struct PlanProgress: Sendable, Equatable {
    let plan: PlanReference
    /// The keys of the steps that are done. A step that requires no field counts from its first field on.
    private(set) var steps: [String]
    private(set) var isComplete: Bool

    init(of record: ProfileRecord, in plan: Plan, today: CivilDate) {
        self.plan = plan.reference
        steps = plan.steps.filter { step in
            Onboarding.isDone(step, record)
                && (step.fields.isEmpty || step.fields.contains(where: record.isSatisfied))
        }.map(\.key)
        let position = Onboarding.Position(of: record, plan, today: today)
        isComplete = position.current == nil && position.status == .active
    }

    /// The version that a person moves to; `nil` if the person stays.
    ///
    /// The newest version names the versions whose people move to it. A complete person moves only if the newest
    /// version is complete for them too. That holds for a blocked person as well.
    static func move(_ record: ProfileRecord, from plan: Plan) -> Plan? {
        guard let newest = plan.additions?.newest, newest.movesFrom.contains(plan.reference.version),
            Onboarding.current(of: record, newest) == nil || Onboarding.current(of: record, plan) != nil
        else { return nil }
        return newest
    }

    var isEmpty: Bool { steps.isEmpty && !isComplete }

    /// The progress that is not in `earlier`.
    func news(since earlier: PlanProgress) -> PlanProgress {
        var news = self
        news.steps.removeAll(where: earlier.steps.contains)
        news.isComplete = isComplete && !earlier.isComplete
        return news
    }
}

/// The funnel of one version of a plan.
enum PlanFunnel {
    /// The numbers of a step as they are counted.
    struct StepCount {
        /// People who did the step.
        let people: Int64
        /// People who did every required step before it.
        let reached: Int64
        /// People who did every required step before it and this step.
        let passed: Int64
        let medianSeconds: Double?
    }

    /// The steps of a funnel: the account, which everybody has, and then those of the plan.
    static func steps(of plan: Plan, people: Int64, _ counts: [StepCount]) -> [Funnel.Step] {
        let account = Funnel.Step(
            key: plan.account, people: people, kind: "account", need: Plan.Need.required.rawValue)
        return [account]
            + zip(plan.steps, counts).map { step, count in
                Funnel.Step(
                    key: step.key, people: count.people,
                    dropOffPercent: step.need == .required
                        ? FunnelStep.dropOff(from: count.reached, to: count.passed) : nil,
                    medianSeconds: count.medianSeconds, kind: step.kindName, need: step.need.rawValue)
            }
    }

    /// A share in percent, to one decimal; `nil` if the whole is 0.
    static func share(_ part: Int64, of whole: Int64) -> Double? {
        whole > 0 ? (Double(part) / Double(whole) * 1000).rounded() / 10 : nil
    }
}
