import BusProtocol
import EventLoop
import JSONText
import Testing

/// Replies and errors that the contracts of the editor share.
enum DraftSamples {
    static let hash = String(repeating: "0af9", count: 16)
    static let forbidden = BusError(.forbidden, "This is for administrators.")
    static let noDraft = BusError(.notFound, "There is no such draft.")
    static let noVersion = BusError(.notFound, "There is no such version.")
    static let published = BusError(.draftPublished, "This draft was published; begin another one.")
    static let longest = String(repeating: "a", count: 64)

    static let draft = Draft(
        number: 1, revision: 2, updatedAt: Sample.everyday, definition: ["key": "family", "sections": []])
    static let smallDraft = Draft(number: 1, revision: 1, updatedAt: Sample.earliest, definition: [:])
    static let fullDraft = Draft(
        number: 2_147_483_647, revision: Sample.largestInteger, from: 1, publishedAs: 2, updatedAt: Sample.latest,
        definition: ["strings": ["sv": ["q": "Vad brinner du för? 🔥"]]])

    static let version = VersionSummary(
        version: 1, hash: hash, current: true, publishedAt: Sample.everyday, openSessions: 3, completedSessions: 4)
    static let fullVersion = VersionSummary(
        version: 2_147_483_647, hash: hash, current: false, publishedAt: Sample.earliest, retiredAt: Sample.latest,
        openSessions: Sample.largestInteger, completedSessions: Sample.largestInteger)

    static let questionnaire = PublishedQuestionnaire(
        key: "family", version: 1, hash: hash, publishedAt: Sample.everyday,
        definition: ["key": "family", "version": 1])
    static let change = VersionChange(
        kind: "option_added", changeClass: "additive", pointer: "/sections/0/questions/1/options/2",
        keys: ["smoking", "regularly"])

    /// A request of an administrator.
    static func admin<Message: BusRequest>(_ message: Message, key: String? = nil) -> Asked<Message> {
        var asked = Asked(message, for: Sample.person, key: key)
        asked.options.actor = asked.options.actor.map {
            Actor(userID: $0.userID, sessionID: $0.sessionID, role: .admin)
        }
        return asked
    }
}

extension QuestionnaireProvider {
    /// Creates a draft and returns its number, as in the path.
    func draft(_ definition: JSONValue = family, of questionnaire: String = "family") async throws -> String {
        let created = try await reply(
            to: DraftSamples.admin(
                CreateDraft(questionnaire: questionnaire, definition: definition), key: "key-\(Identifier.random())"))
        return String(created.number)
    }

    /// - Returns: the number of the published draft.
    @discardableResult func published(
        _ definition: JSONValue = family, of questionnaire: String = "family"
    ) async throws -> String {
        let draft = try await draft(definition, of: questionnaire)
        try await reply(
            to: DraftSamples.admin(
                PublishDraft(questionnaire: questionnaire, draft: draft, acceptClass: "breaking"),
                key: "key-\(Identifier.random())"))
        return draft
    }

    /// An open session of a version that is closed, and a newer version.
    func closed(
        _ old: JSONValue = largerFamily, then new: JSONValue = family, of questionnaire: String = "family"
    ) async throws -> (session: Identifier, person: Identifier) {
        var members = old.objectValue ?? [:]
        members["policy"] = ["drainDays": 0]
        try await published(.object(members), of: questionnaire)
        let person = Identifier.random()
        let view = try await reply(to: Asked(OpenSession(questionnaire: questionnaire), for: person))
        try await published(new, of: questionnaire)
        try await reply(
            to: DraftSamples.admin(
                RetireVersion(questionnaire: questionnaire, version: String(view.questionnaire.version))))
        return (view.id, person)
    }

    /// ``family`` with one more required question.
    nonisolated static var largerFamily: JSONValue {
        var members = family.objectValue ?? [:]
        members["sections"] = .array(
            (family["sections"]?.arrayValue ?? []) + [
                [
                    "key": "home",
                    "questions": [["key": "homeTown", "type": "text", "textKey": "q", "required": true]],
                ]
            ])
        return .object(members)
    }
}

extension ListQuestionnaires: MessageContract {
    static let canonical = ListQuestionnaires()
    static let minimal = ListQuestionnaires()
    static let maximal = ListQuestionnaires(acceptLanguage: "sv, en;q=0.5")
    static let canonicalReply = QuestionnaireList(questionnaires: [GetQuestions.reference])
    static let minimalReply = QuestionnaireList(questionnaires: [])
    static let maximalReply = QuestionnaireList(questionnaires: [
        GetQuestions.reference, GetQuestions.reference,
    ])
    static let errors = [Sample.unauthorized]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<ListQuestionnaires> {
        Asked(canonical, for: .random())
    }
    static let provocations: [String: Provocation<QuestionnaireProvider, ListQuestionnaires>] = [
        "unauthorized": { _ in Asked(canonical) }
    ]
}

extension GetQuestionnaire: MessageContract {
    static let canonical = GetQuestionnaire(questionnaire: "yoked-compat")
    static let minimal = GetQuestionnaire(questionnaire: "a")
    static let maximal = GetQuestionnaire(questionnaire: DraftSamples.longest)
    static let canonicalReply = DraftSamples.questionnaire
    static let minimalReply = DraftSamples.questionnaire
    static let maximalReply = DraftSamples.questionnaire
    static let errors = [Sample.unauthorized, BusError(.notFound, "There is no such questionnaire.")]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<GetQuestionnaire> {
        Asked(canonical, for: .random())
    }
    static let provocations: [String: Provocation<QuestionnaireProvider, GetQuestionnaire>] = [
        "unauthorized": { _ in Asked(canonical) }, "not_found": { _ in Asked(minimal, for: .random()) },
    ]
}

extension GetQuestionnaireVersion: MessageContract {
    static let canonical = GetQuestionnaireVersion(questionnaire: "yoked-compat", version: "1")
    static let minimal = GetQuestionnaireVersion(questionnaire: "a", version: "1")
    static let maximal = GetQuestionnaireVersion(questionnaire: DraftSamples.longest, version: "2147483647")
    static let canonicalReply = DraftSamples.questionnaire
    static let minimalReply = DraftSamples.questionnaire
    static let maximalReply = DraftSamples.questionnaire
    static let errors = [Sample.unauthorized, DraftSamples.noVersion]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<GetQuestionnaireVersion> {
        Asked(GetQuestionnaireVersion(questionnaire: "yoked-compat", version: "3"), for: .random())
    }
    static let provocations: [String: Provocation<QuestionnaireProvider, GetQuestionnaireVersion>] = [
        "unauthorized": { _ in Asked(canonical) }, "not_found": { _ in Asked(maximal, for: .random()) },
    ]
}

extension ViewQuestionnaire: MessageContract {
    static let canonical = ViewQuestionnaire(questionnaire: "family")
    static let minimal = ViewQuestionnaire(questionnaire: "a")
    static let maximal = ViewQuestionnaire(questionnaire: DraftSamples.longest)
    static let canonicalReply = QuestionnaireOverview(
        key: "family", versions: [DraftSamples.version],
        drafts: [DraftSummary(number: 1, revision: 2, from: nil, publishedAs: nil, updatedAt: Sample.everyday)])
    static let minimalReply = QuestionnaireOverview(key: "a", versions: [], drafts: [])
    static let maximalReply = QuestionnaireOverview(
        key: DraftSamples.longest, versions: [DraftSamples.fullVersion],
        drafts: [
            DraftSummary(
                number: 2_147_483_647, revision: Sample.largestInteger, from: 1, publishedAs: 2,
                updatedAt: Sample.latest)
        ])
    static let errors = [Sample.unauthorized, DraftSamples.forbidden]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<ViewQuestionnaire> {
        try await questionnaire.published()
        return DraftSamples.admin(canonical)
    }
    static let provocations: [String: Provocation<QuestionnaireProvider, ViewQuestionnaire>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
    ]
}

extension CreateDraft: MessageContract {
    static let canonical = CreateDraft(questionnaire: "family", definition: QuestionnaireProvider.family)
    static let minimal = CreateDraft(questionnaire: "a")
    static let maximal = CreateDraft(questionnaire: DraftSamples.longest, definition: ["key": "🔥"], from: 2_147_483_647)
    static let canonicalReply = DraftSamples.draft
    static let minimalReply = DraftSamples.smallDraft
    static let maximalReply = DraftSamples.fullDraft
    static let errors = [
        Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noVersion,
        BusError(
            .validationFailed, "A draft begins with a definition, or as a copy.",
            errors: [
                .init(field: "definition", code: "required", message: "Give this, or the version to copy as from.")
            ]),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<CreateDraft> {
        DraftSamples.admin(canonical, key: "key-\(Identifier.random())")
    }
    static let provocations: [String: Provocation<QuestionnaireProvider, CreateDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(CreateDraft(questionnaire: "family", from: 7)) },
        "validation_failed": { _ in DraftSamples.admin(CreateDraft(questionnaire: "family")) },
    ]
}

extension GetDraft: MessageContract {
    static let canonical = GetDraft(questionnaire: "family", draft: "1")
    static let minimal = GetDraft(questionnaire: "a", draft: "1")
    static let maximal = GetDraft(questionnaire: DraftSamples.longest, draft: "2147483647")
    static let canonicalReply = DraftSamples.draft
    static let minimalReply = DraftSamples.smallDraft
    static let maximalReply = DraftSamples.fullDraft
    static let errors = [Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noDraft]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<GetDraft> {
        DraftSamples.admin(GetDraft(questionnaire: "family", draft: try await questionnaire.draft()))
    }
    static let provocations: [String: Provocation<QuestionnaireProvider, GetDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
    ]
}

extension PutDraft: MessageContract {
    static let canonical = PutDraft(
        questionnaire: "family", draft: "1", definition: QuestionnaireProvider.family, ifMatch: "\"r1\"")
    static let minimal = PutDraft(questionnaire: "a", draft: "1", definition: [:])
    static let maximal = PutDraft(
        questionnaire: DraftSamples.longest, draft: "2147483647", definition: ["key": "🔥"],
        ifMatch: "\"r9007199254740991\"")
    static let canonicalReply = DraftSamples.draft
    static let minimalReply = DraftSamples.smallDraft
    static let maximalReply = DraftSamples.fullDraft
    static let errors = [
        Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noDraft,
        BusError(
            .validationFailed, "This cannot be kept as a draft.",
            errors: [.init(field: "definition", code: "wrong_type", message: "Must be an object.")]),
        BusError(.preconditionFailed, "The draft was changed somewhere else in the meantime."), DraftSamples.published,
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<PutDraft> {
        let draft = try await questionnaire.draft()
        return DraftSamples.admin(
            PutDraft(questionnaire: "family", draft: draft, definition: QuestionnaireProvider.largerFamily))
    }
    static let provocations: [String: Provocation<QuestionnaireProvider, PutDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
        "validation_failed": { questionnaire in
            DraftSamples.admin(
                PutDraft(questionnaire: "family", draft: try await questionnaire.draft(), definition: [1]))
        },
        "precondition_failed": { questionnaire in
            let draft = try await questionnaire.draft()
            return DraftSamples.admin(
                PutDraft(questionnaire: "family", draft: draft, definition: [:], ifMatch: "\"r7\""))
        },
        "draft_published": { questionnaire in
            let draft = try await questionnaire.published()
            return DraftSamples.admin(PutDraft(questionnaire: "family", draft: draft, definition: [:]))
        },
    ]
}

extension CheckDraft: MessageContract {
    static let canonical = CheckDraft(questionnaire: "family", draft: "1")
    static let minimal = CheckDraft(questionnaire: "a", draft: "1")
    static let maximal = CheckDraft(questionnaire: DraftSamples.longest, draft: "2147483647")
    static let canonicalReply = DraftReport(
        findings: [
            DraftFinding(
                severity: "error", code: "E06", pointer: "/sections/0/questions/1/visibleIf",
                message: "This condition can never hold.", keys: ["gender"])
        ], shortestPath: 11, longestPath: 12)
    static let minimalReply = DraftReport(findings: [])
    static let maximalReply = DraftReport(
        findings: [
            DraftFinding(severity: "warning", code: "W1", pointer: "", message: "Zoë’s ☕️", keys: [DraftSamples.longest])
        ], shortestPath: 0, longestPath: 500)
    static let errors = [Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noDraft]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<CheckDraft> {
        DraftSamples.admin(CheckDraft(questionnaire: "family", draft: try await questionnaire.draft()))
    }
    static let provocations: [String: Provocation<QuestionnaireProvider, CheckDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
    ]
}

extension PublishDraft: MessageContract {
    static let canonical = PublishDraft(questionnaire: "family", draft: "1", acceptClass: "additive")
    static let minimal = PublishDraft(questionnaire: "a", draft: "1")
    static let maximal = PublishDraft(
        questionnaire: DraftSamples.longest, draft: "2147483647", acceptClass: "breaking")
    static let canonicalReply = VersionPublished(
        version: 2, hash: DraftSamples.hash, changeClass: "additive", openSessions: 3, answers: 0)
    static let minimalReply = VersionPublished(
        version: 1, hash: DraftSamples.hash, changeClass: nil, openSessions: 0, answers: 0)
    static let maximalReply = VersionPublished(
        version: 2_147_483_647, hash: DraftSamples.hash, changeClass: "breaking",
        openSessions: Sample.largestInteger, answers: Sample.largestInteger)
    static let errors = [
        Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noDraft,
        BusError(
            .definitionInvalid, "This draft cannot be published as it is.",
            errors: [.init(field: "", code: "malformed", message: "This is required.")]),
        BusError(
            .changeNotAccepted, "This change asks more of people than was acknowledged.",
            details: [
                "changeClass": "reask", "openSessions": 3, "answers": 0,
                "changes": [
                    [
                        "kind": "required_question_added", "changeClass": "reask",
                        "pointer": "/sections/1/questions/0", "keys": ["homeTown"],
                    ]
                ],
            ]),
        DraftSamples.published,
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<PublishDraft> {
        let draft = try await questionnaire.draft()
        return DraftSamples.admin(
            PublishDraft(questionnaire: "family", draft: draft), key: "key-\(Identifier.random())")
    }
    static let provocations: [String: Provocation<QuestionnaireProvider, PublishDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
        "definition_invalid": { questionnaire in
            DraftSamples.admin(
                PublishDraft(questionnaire: "family", draft: try await questionnaire.draft(["key": "family"])))
        },
        "change_not_accepted": { questionnaire in
            try await questionnaire.published()
            let draft = try await questionnaire.draft(QuestionnaireProvider.largerFamily)
            return DraftSamples.admin(
                PublishDraft(questionnaire: "family", draft: draft, acceptClass: "additive"))
        },
        "draft_published": { questionnaire in
            let draft = try await questionnaire.published()
            return DraftSamples.admin(PublishDraft(questionnaire: "family", draft: draft))
        },
    ]
}

extension RetireVersion: MessageContract {
    static let canonical = RetireVersion(questionnaire: "family", version: "1")
    static let minimal = RetireVersion(questionnaire: "a", version: "1")
    static let maximal = RetireVersion(questionnaire: DraftSamples.longest, version: "2147483647")
    static let canonicalReply = DraftSamples.version
    static let minimalReply = DraftSamples.version
    static let maximalReply = DraftSamples.fullVersion
    static let errors = [Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noVersion]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<RetireVersion> {
        try await questionnaire.published()
        return DraftSamples.admin(canonical)
    }
    static let provocations: [String: Provocation<QuestionnaireProvider, RetireVersion>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
    ]
}

extension CompareVersions: MessageContract {
    static let canonical = CompareVersions(questionnaire: "family", from: 1, to: 2)
    static let minimal = CompareVersions(questionnaire: "a")
    static let maximal = CompareVersions(questionnaire: DraftSamples.longest, from: 1, to: 2_147_483_647)
    static let canonicalReply = VersionDifference(
        from: 1, to: 2, changeClass: "additive", changes: [DraftSamples.change])
    static let minimalReply = VersionDifference(from: 1, to: 1, changeClass: nil, changes: [])
    static let maximalReply = VersionDifference(
        from: 1, to: 2_147_483_647, changeClass: "breaking", changes: [DraftSamples.change, DraftSamples.change])
    static let errors = [
        Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noVersion,
        BusError(
            .validationFailed, "Say which two versions.",
            errors: [.init(field: "from", code: "required", message: "This is required.")]),
    ]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<CompareVersions> {
        try await questionnaire.published()
        try await questionnaire.published(QuestionnaireProvider.largerFamily)
        return DraftSamples.admin(canonical)
    }
    static let provocations: [String: Provocation<QuestionnaireProvider, CompareVersions>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
        "validation_failed": { _ in DraftSamples.admin(minimal) },
    ]
}
