import BusProtocol
import EventLoop
import JSONText

@testable import VisualPreferenceService

/// Values that the contracts about the stimulus set share.
private enum StimulusSamples {
    static let draft = StimulusSetDraft(
        number: 1, revision: 2, updatedAt: Sample.everyday, set: ["key": "drawn-faces", "items": []])
    static let smallDraft = StimulusSetDraft(number: 1, revision: 1, updatedAt: Sample.earliest, set: [:])
    static let fullDraft = StimulusSetDraft(
        number: 2_147_483_647, revision: Sample.largestInteger, publishedAs: 2, updatedAt: Sample.latest,
        set: ["items": [["alt": ["sv": "Ett tecknat ansikte 🔥"]]]])

    static let version = StimulusSetVersionSummary(
        version: 2, hash: DraftSamples.hash, publishedAt: Sample.everyday)
    static let published = PublishedStimulusSet(
        version: 2, hash: DraftSamples.hash, publishedAt: Sample.everyday, set: ["key": "drawn-faces", "version": 2])
    static let change = VersionChange(
        kind: "item_added", changeClass: "additive", pointer: "/items/40", keys: ["face_41"])

    /// The set of this release under a licence that no version has.
    static var relicensed: JSONValue {
        let text = (try? StimulusSet.shipped.get().canonicalText) ?? []
        var members = (try? JSONValue.parse(text))?.objectValue ?? [:]
        members["licence"] = .string("CC-BY-4.0 \(Identifier.random())")
        return .object(members)
    }
}

extension VisualPreferenceProvider {
    /// Creates a draft of the stimulus set and returns its number, as in the path.
    fileprivate func setDraft(_ set: JSONValue = StimulusSamples.relicensed) async throws -> String {
        let created = try await reply(
            to: DraftSamples.admin(CreateStimulusSetDraft(set: set), key: "key-\(Identifier.random())"))
        return String(created.number)
    }

    /// - Returns: the number of the published draft.
    fileprivate func publishedSet() async throws -> String {
        let draft = try await setDraft()
        try await reply(
            to: DraftSamples.admin(
                PublishStimulusSetDraft(draft: draft, acceptClass: "editorial"), key: "key-\(Identifier.random())"))
        return draft
    }
}

extension ViewStimulusSets: MessageContract {
    static let canonical = ViewStimulusSets()
    static let minimal = ViewStimulusSets()
    static let maximal = ViewStimulusSets()
    static let canonicalReply = StimulusSetOverview(
        versions: [StimulusSamples.version],
        drafts: [DraftSummary(number: 1, revision: 2, from: nil, publishedAs: nil, updatedAt: Sample.everyday)])
    static let minimalReply = StimulusSetOverview(versions: [], drafts: [])
    static let maximalReply = StimulusSetOverview(
        versions: [
            StimulusSetVersionSummary(version: 2_147_483_647, hash: DraftSamples.hash, publishedAt: Sample.latest)
        ],
        drafts: [
            DraftSummary(
                number: 2_147_483_647, revision: Sample.largestInteger, from: 1, publishedAs: 2,
                updatedAt: Sample.latest)
        ])
    static let errors = [Sample.unauthorized, DraftSamples.forbidden]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ provider: VisualPreferenceProvider) async throws -> Asked<ViewStimulusSets> {
        DraftSamples.admin(canonical)
    }
    static let provocations: [String: Provocation<VisualPreferenceProvider, ViewStimulusSets>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
    ]
}

extension GetStimulusSet: MessageContract {
    static let canonical = GetStimulusSet(version: "2")
    static let minimal = GetStimulusSet(version: "1")
    static let maximal = GetStimulusSet(version: "2147483647")
    static let canonicalReply = StimulusSamples.published
    static let minimalReply = StimulusSamples.published
    static let maximalReply = StimulusSamples.published
    static let errors = [Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noVersion]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ provider: VisualPreferenceProvider) async throws -> Asked<GetStimulusSet> {
        DraftSamples.admin(minimal)
    }
    static let provocations: [String: Provocation<VisualPreferenceProvider, GetStimulusSet>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
    ]
}

extension CreateStimulusSetDraft: MessageContract {
    static let canonical = CreateStimulusSetDraft(set: ["key": "drawn-faces", "items": []])
    static let minimal = CreateStimulusSetDraft(set: [:])
    static let maximal = CreateStimulusSetDraft(set: ["key": "🔥"])
    static let canonicalReply = StimulusSamples.draft
    static let minimalReply = StimulusSamples.smallDraft
    static let maximalReply = StimulusSamples.fullDraft
    static let errors = [
        Sample.unauthorized, DraftSamples.forbidden,
        BusError(
            .validationFailed, "This cannot be kept as a draft.",
            errors: [.init(field: "set", code: "wrong_type", message: "Must be an object.")]),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ provider: VisualPreferenceProvider) async throws -> Asked<CreateStimulusSetDraft> {
        DraftSamples.admin(canonical, key: "key-\(Identifier.random())")
    }
    static let provocations: [String: Provocation<VisualPreferenceProvider, CreateStimulusSetDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "validation_failed": { _ in DraftSamples.admin(CreateStimulusSetDraft(set: [1])) },
    ]
}

extension GetStimulusSetDraft: MessageContract {
    static let canonical = GetStimulusSetDraft(draft: "1")
    static let minimal = GetStimulusSetDraft(draft: "1")
    static let maximal = GetStimulusSetDraft(draft: "2147483647")
    static let canonicalReply = StimulusSamples.draft
    static let minimalReply = StimulusSamples.smallDraft
    static let maximalReply = StimulusSamples.fullDraft
    static let errors = [Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noDraft]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ provider: VisualPreferenceProvider) async throws -> Asked<GetStimulusSetDraft> {
        DraftSamples.admin(GetStimulusSetDraft(draft: try await provider.setDraft()))
    }
    static let provocations: [String: Provocation<VisualPreferenceProvider, GetStimulusSetDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
    ]
}

extension DeleteStimulusSetDraft: MessageContract {
    static let canonical = DeleteStimulusSetDraft(draft: "1")
    static let minimal = DeleteStimulusSetDraft(draft: "1")
    static let maximal = DeleteStimulusSetDraft(draft: "2147483647")
    static let canonicalReply = NoContent()
    static let minimalReply = NoContent()
    static let maximalReply = NoContent()
    static let errors = [
        Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noDraft,
        BusError(.draftPublished, "This draft was published, and stays with its version."),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ provider: VisualPreferenceProvider) async throws -> Asked<DeleteStimulusSetDraft> {
        DraftSamples.admin(DeleteStimulusSetDraft(draft: try await provider.setDraft()))
    }
    static let provocations: [String: Provocation<VisualPreferenceProvider, DeleteStimulusSetDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
        "draft_published": { provider in
            DraftSamples.admin(DeleteStimulusSetDraft(draft: try await provider.publishedSet()))
        },
    ]
}

extension CheckStimulusSetDraft: MessageContract {
    static let canonical = CheckStimulusSetDraft(draft: "1")
    static let minimal = CheckStimulusSetDraft(draft: "1")
    static let maximal = CheckStimulusSetDraft(draft: "2147483647")
    static let canonicalReply = DraftReport(
        findings: [
            DraftFinding(
                severity: "error", code: "unknown_picture", pointer: "/items/3/id",
                message: "The program has no such picture: say its address in image.", keys: ["face_99"])
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
    static func everyday(_ provider: VisualPreferenceProvider) async throws -> Asked<CheckStimulusSetDraft> {
        DraftSamples.admin(CheckStimulusSetDraft(draft: try await provider.setDraft()))
    }
    static let provocations: [String: Provocation<VisualPreferenceProvider, CheckStimulusSetDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
    ]
}

extension PublishStimulusSetDraft: MessageContract {
    static let canonical = PublishStimulusSetDraft(draft: "1", acceptClass: "additive")
    static let minimal = PublishStimulusSetDraft(draft: "1")
    static let maximal = PublishStimulusSetDraft(draft: "2147483647", acceptClass: "breaking")
    static let canonicalReply = StimulusSetPublished(
        version: 3, hash: DraftSamples.hash, changeClass: "additive", changes: [StimulusSamples.change])
    static let minimalReply = StimulusSetPublished(version: 1, hash: DraftSamples.hash, changeClass: nil, changes: [])
    static let maximalReply = StimulusSetPublished(
        version: 2_147_483_647, hash: DraftSamples.hash, changeClass: "breaking",
        changes: [StimulusSamples.change, StimulusSamples.change])
    static let errors = [
        Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noDraft,
        BusError(
            .definitionInvalid, "This draft cannot be published as it is.",
            errors: [.init(field: "", code: "malformed", message: "This is required.")]),
        BusError(
            .changeNotAccepted, "This change asks more of people than was acknowledged.",
            details: [
                "changeClass": "additive",
                "changes": [
                    [
                        "kind": "item_added", "changeClass": "additive", "pointer": "/items/40", "keys": ["face_41"],
                    ]
                ],
            ]),
        DraftSamples.published,
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ provider: VisualPreferenceProvider) async throws -> Asked<PublishStimulusSetDraft> {
        let draft = try await provider.setDraft()
        return DraftSamples.admin(
            PublishStimulusSetDraft(draft: draft, acceptClass: "additive"), key: "key-\(Identifier.random())")
    }
    static let provocations: [String: Provocation<VisualPreferenceProvider, PublishStimulusSetDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
        "definition_invalid": { provider in
            DraftSamples.admin(PublishStimulusSetDraft(draft: try await provider.setDraft([:])))
        },
        "change_not_accepted": { provider in
            DraftSamples.admin(PublishStimulusSetDraft(draft: try await provider.setDraft()))
        },
        "draft_published": { provider in
            let draft = try await provider.publishedSet()
            return DraftSamples.admin(PublishStimulusSetDraft(draft: draft))
        },
    ]
}
