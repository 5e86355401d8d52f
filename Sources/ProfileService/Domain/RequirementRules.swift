import BusProtocol

/// Decides what a person must still do for each capability.
enum RequirementRules {
    static func requirements(
        of record: ProfileRecord, _ plan: Plan, today: CivilDate, now: Timestamp
    ) -> Requirements {
        let position = Onboarding.Position(of: record, plan, today: today)
        let additions = plan.additions?.open(for: record) ?? []
        func needs(_ capability: Plan.Capability) -> CapabilityNeeds {
            var needs = Self.needs(capability, record, position, plan)
            needs.add(additions.filter { plan.additions?.isNeeded($0.key, for: capability) ?? false }, now: now)
            return needs
        }
        var appAccess = CapabilityNeeds(disabledReason: position.status == .suspended ? "suspended" : nil)
        appAccess.add(additions, now: now)
        let fullConfidence = needs(.fullConfidence)
        return Requirements(
            appAccess: appAccess,
            browse: needs(.browse), like: needs(.like), match: needs(.match),
            message: needs(.message), fullConfidence: fullConfidence,
            formerFullConfidence: fullConfidence, eligibleOn: position.eligibleOn)
    }

    private static func needs(
        _ capability: Plan.Capability, _ record: ProfileRecord, _ position: Onboarding.Position, _ plan: Plan
    ) -> CapabilityNeeds {
        var needs = CapabilityNeeds()
        guard let keys = plan.capabilities[capability] else {
            needs.disabledReason = "not_offered"
            return needs
        }
        // A capability does not need a field or step that the person is not asked for.
        let hidden = plan.completion.hidden(from: record)
        for key in keys.due where !hidden.contains(key) { add(key, to: &needs, isDue: true, record, plan) }
        for key in keys.wanted where !hidden.contains(key) { add(key, to: &needs, isDue: false, record, plan) }
        if position.status == .suspended {
            needs.disabledReason = "suspended"
        } else if position.eligibleOn != nil {
            needs.disabledReason = "underage"
        } else if position.status == .nonMatching, [.match, .fullConfidence].contains(capability) {
            needs.disabledReason = "verification_declined"
        } else if !needs.currentlyDue.isEmpty {
            needs.disabledReason = "requirements_due"
        } else if !needs.pendingVerification.isEmpty {
            needs.disabledReason = "pending_verification"
        }
        return needs
    }

    private static func add(
        _ key: String, to needs: inout CapabilityNeeds, isDue: Bool, _ record: ProfileRecord, _ plan: Plan
    ) {
        func note() { isDue ? needs.currentlyDue.append(key) : needs.eventuallyDue.append(key) }
        if let field = plan.catalogue.field(key) {
            guard !record.isSatisfied(field) else { return }
            note()
            if record.state(of: field)?.isStale ?? false { needs.errors.append(.init(field: key, code: "stale")) }
            if field.isCity { needs.alternatives.append(.init(original: ["city"], alternative: ["coordinates"])) }
            return
        }
        guard let step = plan.step(key), step.isVisible(to: record), !record.isBackfilled || !step.isReplacedByBackfill
        else { return }
        switch step.verdict(of: record) {
        case .inReview: needs.pendingVerification.append(key)
        case .failed:
            note()
            needs.errors.append(.init(field: key, code: "failed"))
        default: if !Onboarding.isDone(step, record) { note() }
        }
    }
}

extension CapabilityNeeds {
    /// Adds the steps and fields that only the newest version of the plan asks for. Each is announced until its date
    /// and past due from then on. It disables nothing.
    fileprivate mutating func add(_ additions: [PlanAdditions.Open], now: Timestamp) {
        pastDue = additions.filter { $0.dueAt <= now }.map(\.key)
        let ahead = additions.filter { $0.dueAt > now }
        guard !ahead.isEmpty else { return }
        futureRequirements = ahead.map { FutureRequirement(key: $0.key, dueAt: $0.dueAt) }
        currentDeadline = ahead.map(\.dueAt).min()
    }
}
