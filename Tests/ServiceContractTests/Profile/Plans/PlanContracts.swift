import BusProtocol
import EventLoop
import JSONText

/// Values that the contracts about plans share.
enum PlanSamples {
    static let draft = PlanDraft(
        number: 1, revision: 2, updatedAt: Sample.everyday, plan: ["key": "garden", "steps": []])
    static let smallDraft = PlanDraft(number: 1, revision: 1, updatedAt: Sample.earliest, plan: [:])
    static let fullDraft = PlanDraft(
        number: 2_147_483_647, revision: Sample.largestInteger, from: 1, publishedAs: 2, updatedAt: Sample.latest,
        plan: ["strings": ["sv": ["screen": "Vem är du? 🔥"]]])

    static let version = PlanVersionSummary(
        version: 1, hash: DraftSamples.hash, current: true, publishedAt: Sample.everyday, people: 3)
    static let fullVersion = PlanVersionSummary(
        version: 2_147_483_647, hash: DraftSamples.hash, current: false, publishedAt: Sample.earliest,
        retiredAt: Sample.latest, people: Sample.largestInteger)

    static let published = PublishedPlan(
        key: "garden", version: 1, hash: DraftSamples.hash, publishedAt: Sample.everyday,
        plan: ["key": "garden", "version": 1])
    static let change = VersionChange(
        kind: "optional_step_added", changeClass: "additive", pointer: "/steps/1", keys: ["verified"])
    static let summary = PlanSummary(key: "garden", version: 1, publishedAt: Sample.everyday, apps: ["garden"])
    static let fullSummary = PlanSummary(
        key: DraftSamples.longest, version: 2_147_483_647, publishedAt: Sample.latest,
        apps: (1...100).map { "app-\($0)" })

    /// A plan for an app of its own, without a questionnaire.
    static let garden = plan("garden", for: "garden")

    static func plan(_ key: String, for app: String) -> JSONValue {
        [
            "key": .string(key), "version": 1, "apps": [.string(app)], "locales": ["en"], "defaultLocale": "en",
            "signIn": ["titleKey": "account", "methods": ["google"], "phone": "none"],
            "steps": [
                [
                    "key": "profile", "need": "required",
                    "screens": [
                        [
                            "key": "name", "titleKey": "name",
                            "fields": [["field": "displayName", "need": "required"]],
                        ]
                    ],
                ]
            ],
            "strings": ["en": ["account": "Account", "name": "Your name"]],
        ]
    }

    /// ``garden`` with one more required step.
    static let largerGarden: JSONValue = {
        var members = garden.objectValue ?? [:]
        members["steps"] = .array(
            (garden["steps"]?.arrayValue ?? []) + [["key": "verified", "need": "required", "task": "verification"]])
        return .object(members)
    }()
}

extension ProfileProvider {
    /// Creates a draft of a plan and returns its number, as in the path.
    func draft(_ plan: JSONValue = PlanSamples.garden, of key: String = "garden") async throws -> String {
        let created = try await reply(
            to: DraftSamples.admin(CreatePlanDraft(key: key, plan: plan), key: "key-\(Identifier.random())"))
        return String(created.number)
    }

    /// - Returns: the number of the published draft.
    @discardableResult func published(
        _ plan: JSONValue = PlanSamples.garden, of key: String = "garden"
    ) async throws -> String {
        let draft = try await draft(plan, of: key)
        try await reply(
            to: DraftSamples.admin(
                PublishPlanDraft(key: key, draft: draft, acceptClass: "breaking"),
                key: "key-\(Identifier.random())"))
        return draft
    }
}
