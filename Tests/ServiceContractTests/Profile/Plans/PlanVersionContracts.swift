import BusProtocol
import EventLoop

extension ListPlans: MessageContract {
    static let canonical = ListPlans()
    static let minimal = ListPlans()
    static let maximal = ListPlans()
    static let canonicalReply = PlanList(plans: [PlanSamples.summary])
    static let minimalReply = PlanList(plans: [])
    static let maximalReply = PlanList(plans: [PlanSamples.fullSummary, PlanSamples.summary])
    static let errors = [Sample.unauthorized, DraftSamples.forbidden]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<ListPlans> { DraftSamples.admin(canonical) }
    static let provocations: [String: Provocation<ProfileProvider, ListPlans>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
    ]
}

extension ViewPlan: MessageContract {
    static let canonical = ViewPlan(key: "garden")
    static let minimal = ViewPlan(key: "a")
    static let maximal = ViewPlan(key: DraftSamples.longest)
    static let canonicalReply = PlanOverview(
        key: "garden", versions: [PlanSamples.version],
        drafts: [DraftSummary(number: 1, revision: 2, from: nil, publishedAs: nil, updatedAt: Sample.everyday)])
    static let minimalReply = PlanOverview(key: "a", versions: [], drafts: [])
    static let maximalReply = PlanOverview(
        key: DraftSamples.longest, versions: [PlanSamples.fullVersion],
        drafts: [
            DraftSummary(
                number: 2_147_483_647, revision: Sample.largestInteger, from: 1, publishedAs: 2,
                updatedAt: Sample.latest)
        ])
    static let errors = [Sample.unauthorized, DraftSamples.forbidden]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<ViewPlan> {
        try await profile.published()
        return DraftSamples.admin(canonical)
    }
    static let provocations: [String: Provocation<ProfileProvider, ViewPlan>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
    ]
}

extension GetPlanVersion: MessageContract {
    static let canonical = GetPlanVersion(key: "yoked", version: "1")
    static let minimal = GetPlanVersion(key: "a", version: "1")
    static let maximal = GetPlanVersion(key: DraftSamples.longest, version: "2147483647")
    static let canonicalReply = PlanSamples.published
    static let minimalReply = PlanSamples.published
    static let maximalReply = PlanSamples.published
    static let errors = [Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noVersion]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<GetPlanVersion> {
        DraftSamples.admin(GetPlanVersion(key: "eko-family", version: "1"))
    }
    static let provocations: [String: Provocation<ProfileProvider, GetPlanVersion>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
    ]
}

extension RetirePlanVersion: MessageContract {
    static let canonical = RetirePlanVersion(key: "garden", version: "1")
    static let minimal = RetirePlanVersion(key: "a", version: "1")
    static let maximal = RetirePlanVersion(key: DraftSamples.longest, version: "2147483647")
    static let canonicalReply = PlanSamples.version
    static let minimalReply = PlanSamples.version
    static let maximalReply = PlanSamples.fullVersion
    static let errors = [
        Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noVersion,
        BusError(
            .definitionInvalid, "The version before it cannot be used again.",
            errors: [.init(field: "/apps/0", code: "duplicate_app", message: "The plan orchard has garden already.")]),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<RetirePlanVersion> {
        try await profile.published()
        return DraftSamples.admin(canonical)
    }
    static let provocations: [String: Provocation<ProfileProvider, RetirePlanVersion>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
        "definition_invalid": { profile in
            let (key, other) = ("a-\(Identifier.random())", "b-\(Identifier.random())")
            try await profile.published(PlanSamples.plan(key, for: key), of: key)
            try await profile.published(PlanSamples.plan(key, for: other), of: key)
            try await profile.published(PlanSamples.plan(other, for: key), of: other)
            return DraftSamples.admin(RetirePlanVersion(key: key, version: "2"))
        },
    ]
}

extension ComparePlanVersions: MessageContract {
    static let canonical = ComparePlanVersions(key: "garden", from: 1, to: 2)
    static let minimal = ComparePlanVersions(key: "a")
    static let maximal = ComparePlanVersions(key: DraftSamples.longest, from: 1, to: 2_147_483_647)
    static let canonicalReply = VersionDifference(
        from: 1, to: 2, changeClass: "additive", changes: [PlanSamples.change])
    static let minimalReply = VersionDifference(from: 1, to: 1, changeClass: nil, changes: [])
    static let maximalReply = VersionDifference(
        from: 1, to: 2_147_483_647, changeClass: "breaking", changes: [PlanSamples.change, PlanSamples.change])
    static let errors = [
        Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noVersion,
        BusError(
            .validationFailed, "Say which two versions.",
            errors: [.init(field: "from", code: "required", message: "This is required.")]),
    ]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<ComparePlanVersions> {
        try await profile.published()
        try await profile.published(PlanSamples.largerGarden)
        return DraftSamples.admin(canonical)
    }
    static let provocations: [String: Provocation<ProfileProvider, ComparePlanVersions>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
        "validation_failed": { _ in DraftSamples.admin(minimal) },
    ]
}
