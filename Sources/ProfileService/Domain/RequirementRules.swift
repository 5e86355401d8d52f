import BusProtocol

/// Decides what a person must still do for each capability.
enum RequirementRules {
    enum Capability: String, Sendable, CaseIterable {
        case browse, like, match, message
        case fullConfidence = "full_confidence"
    }

    static func requirements(of record: ProfileRecord, _ policy: Onboarding.Policy, today: CivilDate) -> Requirements {
        let standing = Onboarding.Standing(of: record, policy, today: today)
        func needs(_ capability: Capability) -> CapabilityNeeds { Self.needs(capability, record, standing, policy) }
        return Requirements(
            appAccess: CapabilityNeeds(disabledReason: standing.status == .suspended ? "suspended" : nil),
            browse: needs(.browse), like: needs(.like), match: needs(.match),
            message: needs(.message), fullConfidence: needs(.fullConfidence), eligibleOn: standing.eligibleOn)
    }

    static func needs(
        _ capability: Capability, _ record: ProfileRecord, _ standing: Onboarding.Standing, _ policy: Onboarding.Policy
    ) -> CapabilityNeeds {
        var needs = CapabilityNeeds()
        for field in FieldCatalogue.fields where field.capabilities.contains(capability) {
            guard field.category != .optional, !record.isSatisfied(field) else { continue }
            if isDue(field, for: capability) {
                needs.currentlyDue.append(field.key)
            } else {
                needs.eventuallyDue.append(field.key)
            }
            if record.state(of: field)?.isStale ?? false { needs.errors.append(.init(field: field.key, code: "stale")) }
            if field.isCity {
                needs.alternatives.append(.init(original: ["city"], alternative: ["coordinates"]))
            }
        }
        addSteps(to: &needs, for: capability, record, standing, policy)
        if standing.status == .suspended {
            needs.disabledReason = "suspended"
        } else if standing.status == .nonMatching {
            needs.disabledReason = "underage"
        } else if !needs.currentlyDue.isEmpty {
            needs.disabledReason = "requirements_due"
        } else if !needs.pendingVerification.isEmpty {
            needs.disabledReason = "pending_verification"
        }
        return needs
    }

    /// Whether the capability needs the field. Matching needs a place, which is optional otherwise.
    private static func isDue(_ field: ProfileField, for capability: Capability) -> Bool {
        field.category == .required || field.isCity && [.match, .fullConfidence].contains(capability)
    }

    /// Adds the steps that are needed besides fields. To be shown to others, a person must be verified. To be matched,
    /// a person must also complete the questionnaire.
    private static func addSteps(
        to needs: inout CapabilityNeeds, for capability: Capability, _ record: ProfileRecord,
        _ standing: Onboarding.Standing, _ policy: Onboarding.Policy
    ) {
        guard capability != .browse else { return }
        let matches = capability == .match || capability == .fullConfidence
        if matches, !record.isQuestionnaireComplete, !record.isBackfilled { needs.currentlyDue.append("questionnaire") }
        if capability == .fullConfidence, standing.visual != .ready { needs.currentlyDue.append("visual_preferences") }
        guard policy.requiresVerification, !record.isBackfilled else { return }
        switch record.photoVerification {
        case .verified: return
        case .inReview: needs.pendingVerification.append("verification")
        case .failed:
            needs.currentlyDue.append("verification")
            needs.errors.append(.init(field: "verification", code: "failed"))
        case nil: needs.currentlyDue.append("verification")
        }
    }
}
