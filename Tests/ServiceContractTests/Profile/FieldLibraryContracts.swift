import BusProtocol
import EventLoop
import JSONText

@testable import ProfileService

/// Values that the contracts about the library of fields share.
enum LibrarySamples {
    static let draft = FieldLibraryDraft(
        number: 1, revision: 2, updatedAt: Sample.everyday, library: ["languages": ["en"], "fields": []])
    static let smallDraft = FieldLibraryDraft(number: 1, revision: 1, updatedAt: Sample.earliest, library: [:])
    static let fullDraft = FieldLibraryDraft(
        number: 2_147_483_647, revision: Sample.largestInteger, publishedAs: 2, updatedAt: Sample.latest,
        library: ["preferNotToSay": ["label": ["sv": "Vill inte svara 🔥"]]])

    static let version = FieldLibraryVersionSummary(
        version: 2, hash: DraftSamples.hash, publishedAt: Sample.everyday)
    static let published = PublishedFieldLibrary(
        version: 2, hash: DraftSamples.hash, publishedAt: Sample.everyday, library: ["languages": ["en"], "version": 2])
    static let change = VersionChange(
        kind: "option_added", changeClass: "additive", pointer: "/fields/4/options/4", keys: ["gender", "agender"])

    /// The library of this release.
    static var shipped: JSONValue { (try? FieldLibrary.shippedDocument.get().content) ?? .null }

    /// ``shipped`` with another text for the refusal of an answer.
    static func relabelled(_ text: String) -> JSONValue {
        var members = shipped.objectValue ?? [:]
        members["preferNotToSay"] = [
            "key": "prefer_not_to_say", "label": ["en": .string(text), "sv": .string(text)],
        ]
        return .object(members)
    }
}

extension ProfileProvider {
    /// Creates a draft of the library of fields and returns its number, as in the path.
    func libraryDraft(_ library: JSONValue = LibrarySamples.shipped) async throws -> String {
        let created = try await reply(
            to: DraftSamples.admin(CreateFieldLibraryDraft(library: library), key: "key-\(Identifier.random())"))
        return String(created.number)
    }

    /// - Returns: the number of the published draft.
    func publishedLibrary() async throws -> String {
        let draft = try await libraryDraft()
        try await reply(
            to: DraftSamples.admin(
                PublishFieldLibraryDraft(draft: draft, acceptClass: "additive"), key: "key-\(Identifier.random())"))
        return draft
    }
}

extension ViewFieldLibrary: MessageContract {
    static let canonical = ViewFieldLibrary()
    static let minimal = ViewFieldLibrary()
    static let maximal = ViewFieldLibrary()
    static let canonicalReply = FieldLibraryOverview(
        versions: [LibrarySamples.version],
        drafts: [DraftSummary(number: 1, revision: 2, from: nil, publishedAs: nil, updatedAt: Sample.everyday)])
    static let minimalReply = FieldLibraryOverview(versions: [], drafts: [])
    static let maximalReply = FieldLibraryOverview(
        versions: [
            FieldLibraryVersionSummary(version: 2_147_483_647, hash: DraftSamples.hash, publishedAt: Sample.latest)
        ],
        drafts: [
            DraftSummary(
                number: 2_147_483_647, revision: Sample.largestInteger, from: 1, publishedAs: 2,
                updatedAt: Sample.latest)
        ])
    static let errors = [Sample.unauthorized, DraftSamples.forbidden]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<ViewFieldLibrary> {
        DraftSamples.admin(canonical)
    }
    static let provocations: [String: Provocation<ProfileProvider, ViewFieldLibrary>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
    ]
}

extension GetFieldLibraryVersion: MessageContract {
    static let canonical = GetFieldLibraryVersion(version: "2")
    static let minimal = GetFieldLibraryVersion(version: "1")
    static let maximal = GetFieldLibraryVersion(version: "2147483647")
    static let canonicalReply = LibrarySamples.published
    static let minimalReply = LibrarySamples.published
    static let maximalReply = LibrarySamples.published
    static let errors = [Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noVersion]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<GetFieldLibraryVersion> {
        DraftSamples.admin(canonical)
    }
    static let provocations: [String: Provocation<ProfileProvider, GetFieldLibraryVersion>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
    ]
}

extension CreateFieldLibraryDraft: MessageContract {
    static let canonical = CreateFieldLibraryDraft(library: ["languages": ["en"], "fields": []])
    static let minimal = CreateFieldLibraryDraft(library: [:])
    static let maximal = CreateFieldLibraryDraft(library: ["languages": ["🔥"]])
    static let canonicalReply = LibrarySamples.draft
    static let minimalReply = LibrarySamples.smallDraft
    static let maximalReply = LibrarySamples.fullDraft
    static let errors = [
        Sample.unauthorized, DraftSamples.forbidden,
        BusError(
            .validationFailed, "This cannot be kept as a draft.",
            errors: [.init(field: "library", code: "wrong_type", message: "Must be an object.")]),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<CreateFieldLibraryDraft> {
        DraftSamples.admin(canonical, key: "key-\(Identifier.random())")
    }
    static let provocations: [String: Provocation<ProfileProvider, CreateFieldLibraryDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "validation_failed": { _ in DraftSamples.admin(CreateFieldLibraryDraft(library: [1])) },
    ]
}

extension GetFieldLibraryDraft: MessageContract {
    static let canonical = GetFieldLibraryDraft(draft: "1")
    static let minimal = GetFieldLibraryDraft(draft: "1")
    static let maximal = GetFieldLibraryDraft(draft: "2147483647")
    static let canonicalReply = LibrarySamples.draft
    static let minimalReply = LibrarySamples.smallDraft
    static let maximalReply = LibrarySamples.fullDraft
    static let errors = [Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noDraft]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<GetFieldLibraryDraft> {
        DraftSamples.admin(GetFieldLibraryDraft(draft: try await profile.libraryDraft()))
    }
    static let provocations: [String: Provocation<ProfileProvider, GetFieldLibraryDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
    ]
}

extension DeleteFieldLibraryDraft: MessageContract {
    static let canonical = DeleteFieldLibraryDraft(draft: "1")
    static let minimal = DeleteFieldLibraryDraft(draft: "1")
    static let maximal = DeleteFieldLibraryDraft(draft: "2147483647")
    static let canonicalReply = NoContent()
    static let minimalReply = NoContent()
    static let maximalReply = NoContent()
    static let errors = [
        Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noDraft,
        BusError(.draftPublished, "This draft was published, and stays with its version."),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<DeleteFieldLibraryDraft> {
        DraftSamples.admin(DeleteFieldLibraryDraft(draft: try await profile.libraryDraft()))
    }
    static let provocations: [String: Provocation<ProfileProvider, DeleteFieldLibraryDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
        "draft_published": { profile in
            DraftSamples.admin(DeleteFieldLibraryDraft(draft: try await profile.publishedLibrary()))
        },
    ]
}

extension CheckFieldLibraryDraft: MessageContract {
    static let canonical = CheckFieldLibraryDraft(draft: "1")
    static let minimal = CheckFieldLibraryDraft(draft: "1")
    static let maximal = CheckFieldLibraryDraft(draft: "2147483647")
    static let canonicalReply = DraftReport(
        findings: [
            DraftFinding(
                severity: "error", code: "field_removed", pointer: "/fields/3",
                message: "A newer version of the library may only add, widen and relabel.", keys: ["dateOfBirth"])
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
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<CheckFieldLibraryDraft> {
        DraftSamples.admin(CheckFieldLibraryDraft(draft: try await profile.libraryDraft()))
    }
    static let provocations: [String: Provocation<ProfileProvider, CheckFieldLibraryDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
    ]
}

extension PublishFieldLibraryDraft: MessageContract {
    static let canonical = PublishFieldLibraryDraft(draft: "1", acceptClass: "additive")
    static let minimal = PublishFieldLibraryDraft(draft: "1")
    static let maximal = PublishFieldLibraryDraft(draft: "2147483647", acceptClass: "breaking")
    static let canonicalReply = FieldLibraryPublished(
        version: 3, hash: DraftSamples.hash, changeClass: "additive", changes: [LibrarySamples.change])
    static let minimalReply = FieldLibraryPublished(version: 1, hash: DraftSamples.hash, changeClass: nil, changes: [])
    static let maximalReply = FieldLibraryPublished(
        version: 2_147_483_647, hash: DraftSamples.hash, changeClass: "breaking",
        changes: [LibrarySamples.change, LibrarySamples.change])
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
                        "kind": "option_added", "changeClass": "additive", "pointer": "/fields/4/options/4",
                        "keys": ["gender", "agender"],
                    ]
                ],
            ]),
        DraftSamples.published,
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<PublishFieldLibraryDraft> {
        let draft = try await profile.libraryDraft()
        return DraftSamples.admin(
            PublishFieldLibraryDraft(draft: draft, acceptClass: "additive"), key: "key-\(Identifier.random())")
    }
    static let provocations: [String: Provocation<ProfileProvider, PublishFieldLibraryDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
        "definition_invalid": { profile in
            DraftSamples.admin(PublishFieldLibraryDraft(draft: try await profile.libraryDraft([:])))
        },
        "change_not_accepted": { profile in
            let draft = try await profile.libraryDraft(LibrarySamples.relabelled("No answer"))
            return DraftSamples.admin(PublishFieldLibraryDraft(draft: draft))
        },
        "draft_published": { profile in
            let draft = try await profile.publishedLibrary()
            return DraftSamples.admin(PublishFieldLibraryDraft(draft: draft))
        },
    ]
}
