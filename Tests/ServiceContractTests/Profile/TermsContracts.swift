import BusProtocol
import EventLoop
import JSONText

/// A plan of an app of its own, with a text to accept and a task of the operator.
enum TermsSamples {
    static let app = "terms-app"
    static let plan: JSONValue = {
        var members = PlanSamples.plan("terms", for: app).objectValue ?? [:]
        let more: [JSONValue] = [
            [
                "key": "texts", "need": "required",
                "terms": [["document": "terms", "version": "2026-11", "url": "https://example.com/terms"]],
            ],
            ["key": "check", "need": "required", "operator": "background_check"],
        ]
        members["steps"] = .array((members["steps"]?.arrayValue ?? []) + more)
        return .object(members)
    }()
    static let terms = TermsReference(document: "terms", version: "2026-11")
}

extension ProfileProvider {
    /// A request of somebody who follows ``TermsSamples/plan``.
    func inTermsApp<Request: BusRequest>(_ request: Request, _ person: Identifier) async throws -> Asked<Request> {
        let known = try await stage.rows("SELECT count(*) FROM plans WHERE plan = 'terms'")
        if known == "0" { try await published(TermsSamples.plan, of: "terms") }
        var asked = Asked(request, for: person)
        asked.options.actor = asked.options.actor.map {
            Actor(userID: $0.userID, sessionID: $0.sessionID, role: $0.role, app: TermsSamples.app)
        }
        return asked
    }
}

extension AcceptTerms: MessageContract {
    static let canonical = AcceptTerms(documents: [TermsSamples.terms])
    static let minimal = AcceptTerms(documents: [TermsReference(document: "t", version: "1")])
    static let maximal = AcceptTerms(
        documents: (0..<8).map { _ in TermsReference(document: DraftSamples.longest, version: DraftSamples.longest) })
    static let canonicalReply = AcceptedTerms(
        consents: [TermsConsent(document: "terms", version: "2026-11", acceptedAt: Sample.everyday)])
    static let minimalReply = AcceptedTerms(consents: [])
    static let maximalReply = AcceptedTerms(
        consents: (0..<120).map { _ in
            TermsConsent(document: DraftSamples.longest, version: DraftSamples.longest, acceptedAt: Sample.latest)
        })
    static let errors = [
        Sample.unauthorized,
        BusError(
            .validationFailed, "Some texts are not those to accept.",
            errors: [
                .init(field: "documents.0", code: "not_asked", message: "Your plan does not ask for this version.")
            ]),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<AcceptTerms> {
        try await profile.inTermsApp(canonical, profile.person())
    }
    static let provocations: [String: Provocation<ProfileProvider, AcceptTerms>] = [
        "unauthorized": { _ in Asked(canonical) },
        "validation_failed": { Asked(canonical, for: try await $0.person()) },
    ]
}

extension SetOperatorTask: MessageContract {
    static let canonical = SetOperatorTask(personId: Sample.person, task: "background_check", done: true)
    static let minimal = SetOperatorTask(personId: Sample.person, task: "t", done: false)
    static let maximal = SetOperatorTask(personId: Sample.person, task: DraftSamples.longest, done: true)
    static let canonicalReply = OperatorTaskSet(personId: Sample.person, task: "background_check", done: true)
    static let minimalReply = OperatorTaskSet(personId: Sample.person, task: "t", done: false)
    static let maximalReply = OperatorTaskSet(personId: Sample.person, task: DraftSamples.longest, done: true)
    static let errors = [
        Sample.unauthorized, DraftSamples.forbidden,
        BusError(.notFound, "There is no such task of this person."),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ profile: ProfileProvider) async throws -> Asked<SetOperatorTask> {
        let person = try await profile.person()
        try await profile.reply(to: profile.inTermsApp(ViewOnboarding(), person))
        return DraftSamples.admin(SetOperatorTask(personId: person, task: "background_check", done: true))
    }
    static let provocations: [String: Provocation<ProfileProvider, SetOperatorTask>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(canonical) },
    ]
}
