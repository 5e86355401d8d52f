import BusProtocol
import EventLoop

extension CreatePlanDraft: MessageContract {
    static let canonical = CreatePlanDraft(key: "garden", plan: PlanSamples.garden)
    static let minimal = CreatePlanDraft(key: "a")
    static let maximal = CreatePlanDraft(key: DraftSamples.longest, plan: ["key": "🔥"], from: 2_147_483_647)
    static let canonicalReply = PlanSamples.draft
    static let minimalReply = PlanSamples.smallDraft
    static let maximalReply = PlanSamples.fullDraft
    static let errors = [
        Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noVersion,
        BusError(
            .validationFailed, "A draft begins with a plan, or as a copy.",
            errors: [
                .init(field: "plan", code: "required", message: "Give this, or the version to copy as from.")
            ]),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<CreatePlanDraft> {
        DraftSamples.admin(canonical, key: "key-\(Identifier.random())")
    }
    static let provocations: [String: Provocation<ProfileProvider, CreatePlanDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(CreatePlanDraft(key: "garden", from: 7)) },
        "validation_failed": { _ in DraftSamples.admin(CreatePlanDraft(key: "garden")) },
    ]
}

extension GetPlanDraft: MessageContract {
    static let canonical = GetPlanDraft(key: "garden", draft: "1")
    static let minimal = GetPlanDraft(key: "a", draft: "1")
    static let maximal = GetPlanDraft(key: DraftSamples.longest, draft: "2147483647")
    static let canonicalReply = PlanSamples.draft
    static let minimalReply = PlanSamples.smallDraft
    static let maximalReply = PlanSamples.fullDraft
    static let errors = [Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noDraft]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<GetPlanDraft> {
        DraftSamples.admin(GetPlanDraft(key: "garden", draft: try await profile.draft()))
    }
    static let provocations: [String: Provocation<ProfileProvider, GetPlanDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
    ]
}

extension PutPlanDraft: MessageContract {
    static let canonical = PutPlanDraft(
        key: "garden", draft: "1", plan: PlanSamples.garden, ifMatch: "\"r1\"")
    static let minimal = PutPlanDraft(key: "a", draft: "1", plan: [:])
    static let maximal = PutPlanDraft(
        key: DraftSamples.longest, draft: "2147483647", plan: ["key": "🔥"],
        ifMatch: "\"r9007199254740991\"")
    static let canonicalReply = PlanSamples.draft
    static let minimalReply = PlanSamples.smallDraft
    static let maximalReply = PlanSamples.fullDraft
    static let errors = [
        Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noDraft,
        BusError(
            .validationFailed, "This cannot be kept as a draft.",
            errors: [.init(field: "plan", code: "wrong_type", message: "Must be an object.")]),
        BusError(.preconditionFailed, "The draft was changed somewhere else in the meantime."), DraftSamples.published,
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<PutPlanDraft> {
        let draft = try await profile.draft()
        return DraftSamples.admin(
            PutPlanDraft(key: "garden", draft: draft, plan: PlanSamples.largerGarden))
    }
    static let provocations: [String: Provocation<ProfileProvider, PutPlanDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
        "validation_failed": { profile in
            DraftSamples.admin(
                PutPlanDraft(key: "garden", draft: try await profile.draft(), plan: [1]))
        },
        "precondition_failed": { profile in
            let draft = try await profile.draft()
            return DraftSamples.admin(
                PutPlanDraft(key: "garden", draft: draft, plan: [:], ifMatch: "\"r7\""))
        },
        "draft_published": { profile in
            let draft = try await profile.published()
            return DraftSamples.admin(PutPlanDraft(key: "garden", draft: draft, plan: [:]))
        },
    ]
}

extension DeletePlanDraft: MessageContract {
    static let canonical = DeletePlanDraft(key: "garden", draft: "1")
    static let minimal = DeletePlanDraft(key: "a", draft: "1")
    static let maximal = DeletePlanDraft(key: DraftSamples.longest, draft: "2147483647")
    static let canonicalReply = NoContent()
    static let minimalReply = NoContent()
    static let maximalReply = NoContent()
    static let errors = [
        Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noDraft,
        BusError(.draftPublished, "This draft was published, and stays with its version."),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<DeletePlanDraft> {
        DraftSamples.admin(DeletePlanDraft(key: "garden", draft: try await profile.draft()))
    }
    static let provocations: [String: Provocation<ProfileProvider, DeletePlanDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
        "draft_published": { profile in
            DraftSamples.admin(DeletePlanDraft(key: "garden", draft: try await profile.published()))
        },
    ]
}

extension CheckPlanDraft: MessageContract {
    static let canonical = CheckPlanDraft(key: "garden", draft: "1")
    static let minimal = CheckPlanDraft(key: "a", draft: "1")
    static let maximal = CheckPlanDraft(key: DraftSamples.longest, draft: "2147483647")
    static let canonicalReply = DraftReport(
        findings: [
            DraftFinding(
                severity: "error", code: "duplicate_app", pointer: "/apps/0",
                message: "The plan yoked has yoked already.", keys: ["yoked"])
        ])
    static let minimalReply = DraftReport(findings: [])
    static let maximalReply = DraftReport(
        findings: [
            DraftFinding(
                severity: "error", code: "malformed", pointer: "", message: "Zoë’s ☕️", keys: [DraftSamples.longest])
        ], shortestPath: 0, longestPath: 500)
    static let errors = [Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noDraft]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<CheckPlanDraft> {
        DraftSamples.admin(CheckPlanDraft(key: "garden", draft: try await profile.draft()))
    }
    static let provocations: [String: Provocation<ProfileProvider, CheckPlanDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
    ]
}

extension PublishPlanDraft: MessageContract {
    static let canonical = PublishPlanDraft(key: "garden", draft: "1", acceptClass: "additive")
    static let minimal = PublishPlanDraft(key: "a", draft: "1")
    static let maximal = PublishPlanDraft(
        key: DraftSamples.longest, draft: "2147483647", acceptClass: "breaking")
    static let canonicalReply = PlanPublished(
        version: 2, hash: DraftSamples.hash, changeClass: "additive", people: 3, changes: [PlanSamples.change])
    static let minimalReply = PlanPublished(
        version: 1, hash: DraftSamples.hash, changeClass: nil, people: 0, changes: [])
    static let maximalReply = PlanPublished(
        version: 2_147_483_647, hash: DraftSamples.hash, changeClass: "breaking", people: Sample.largestInteger,
        changes: [PlanSamples.change, PlanSamples.change])
    static let errors = [
        Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noDraft,
        BusError(
            .definitionInvalid, "This draft cannot be published as it is.",
            errors: [.init(field: "", code: "malformed", message: "This is required.")]),
        BusError(
            .changeNotAccepted, "This change asks more of people than was acknowledged.",
            details: [
                "changeClass": "reask", "people": 3,
                "changes": [
                    [
                        "kind": "required_step_added", "changeClass": "reask", "pointer": "/steps/1",
                        "keys": ["verified"],
                    ]
                ],
            ]),
        DraftSamples.published,
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<PublishPlanDraft> {
        let draft = try await profile.draft()
        return DraftSamples.admin(
            PublishPlanDraft(key: "garden", draft: draft), key: "key-\(Identifier.random())")
    }
    static let provocations: [String: Provocation<ProfileProvider, PublishPlanDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
        "definition_invalid": { profile in
            DraftSamples.admin(
                PublishPlanDraft(key: "garden", draft: try await profile.draft(["key": "garden"])))
        },
        "change_not_accepted": { profile in
            try await profile.published()
            let draft = try await profile.draft(PlanSamples.largerGarden)
            return DraftSamples.admin(
                PublishPlanDraft(key: "garden", draft: draft, acceptClass: "additive"))
        },
        "draft_published": { profile in
            let draft = try await profile.published()
            return DraftSamples.admin(PublishPlanDraft(key: "garden", draft: draft))
        },
    ]
}
