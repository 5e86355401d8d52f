import BusProtocol
import EventLoop
import JSONText
import Testing

extension MigrateSession: MessageContract {
    static let canonical = MigrateSession(questionnaire: "family", sessionId: Sample.session)
    static let minimal = MigrateSession(questionnaire: "a", sessionId: Sample.session)
    static let maximal = MigrateSession(
        questionnaire: DraftSamples.longest, sessionId: Sample.session, dryRun: "true")
    static let canonicalReply = SessionMigrated(
        fromVersion: 1, toVersion: 2, kept: ["smoking"], stale: ["goals"], orphaned: ["drinking"],
        newQuestions: ["homeTown"])
    static let minimalReply = SessionMigrated(
        fromVersion: 1, toVersion: 1, kept: [], stale: [], orphaned: [], newQuestions: [])
    static let maximalReply = SessionMigrated(
        fromVersion: 1, toVersion: 2_147_483_647, kept: ["childName/\(QuestionnaireSessionSamples.subject)"],
        stale: [DraftSamples.longest], orphaned: [DraftSamples.longest], newQuestions: [DraftSamples.longest])
    static let errors = [
        Sample.unauthorized, QuestionnaireSessionSamples.unknownSession,
        BusError(.sessionNotOpen, "Only an open session is moved to another version."),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<MigrateSession> {
        let (session, person) = try await questionnaire.overtaken()
        return Asked(
            MigrateSession(questionnaire: "family", sessionId: session), for: person, key: "key-\(Identifier.random())")
    }
    static let provocations: [String: Provocation<QuestionnaireProvider, MigrateSession>] = [
        "unauthorized": { _ in Asked(canonical) }, "not_found": { _ in Asked(canonical, for: .random()) },
        "session_not_open": { questionnaire in
            let (session, person) = try await questionnaire.session(
                answers: QuestionnaireProvider.required, complete: true)
            return Asked(MigrateSession(questionnaire: "yoked-compat", sessionId: session), for: person)
        },
    ]
}

extension UndoMigration: MessageContract {
    static let canonical = UndoMigration(questionnaire: "family", sessionId: Sample.session)
    static let minimal = UndoMigration(questionnaire: "a", sessionId: Sample.session)
    static let maximal = UndoMigration(
        questionnaire: DraftSamples.longest, sessionId: Sample.session, acceptLanguage: "sv, en;q=0.5")
    static let canonicalReply = QuestionnaireSessionSamples.view
    static let minimalReply = QuestionnaireSessionSamples.small
    static let maximalReply = QuestionnaireSessionSamples.full
    static let errors = [
        Sample.unauthorized, QuestionnaireSessionSamples.unknownSession,
        BusError(.migrationFinal, "There is no migration that could be taken back."),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<UndoMigration> {
        let (session, person) = try await questionnaire.overtaken()
        try await questionnaire.reply(
            to: Asked(MigrateSession(questionnaire: "family", sessionId: session), for: person))
        return Asked(
            UndoMigration(questionnaire: "family", sessionId: session), for: person, key: "key-\(Identifier.random())")
    }
    static let provocations: [String: Provocation<QuestionnaireProvider, UndoMigration>] = [
        "unauthorized": { _ in Asked(canonical) }, "not_found": { _ in Asked(canonical, for: .random()) },
        "migration_final": { questionnaire in
            let (session, person) = try await questionnaire.overtaken()
            return Asked(UndoMigration(questionnaire: "family", sessionId: session), for: person)
        },
    ]
}

extension MigrateSessions: MessageContract {
    static let canonical = MigrateSessions(questionnaire: "family", limit: 100)
    static let minimal = MigrateSessions(questionnaire: "a", limit: 1)
    static let maximal = MigrateSessions(
        questionnaire: DraftSamples.longest, limit: 1000, after: "\(Sample.person) \(Sample.session)", dryRun: true)
    static let canonicalReply = SessionsMigrated(
        toVersion: 2, sessions: 100, kept: 900, stale: 70, orphaned: 3, remaining: 12,
        next: "\(Sample.person) \(Sample.session)")
    static let minimalReply = SessionsMigrated(
        toVersion: 1, sessions: 0, kept: 0, stale: 0, orphaned: 0, remaining: 0)
    static let maximalReply = SessionsMigrated(
        toVersion: 2_147_483_647, sessions: Sample.largestInteger, kept: Sample.largestInteger,
        stale: Sample.largestInteger, orphaned: Sample.largestInteger, remaining: Sample.largestInteger,
        next: "\(Sample.person) \(Sample.session)")
    static let errors = [BusError(.notFound, "There is no such questionnaire.")]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<MigrateSessions> {
        _ = try await questionnaire.overtaken()
        // A second run would find nothing to move. A dry run returns the same count each time.
        return Asked(MigrateSessions(questionnaire: "family", limit: 100, dryRun: true), as: .operator)
    }
    static let provocations: [String: Provocation<QuestionnaireProvider, MigrateSessions>] = [
        "not_found": { _ in Asked(minimal, as: .operator) }
    ]
}

extension SealDates: MessageContract {
    static let canonical = SealDates(limit: 50, after: "\(Sample.person) \(Sample.session)")
    static let minimal = SealDates(limit: 1)
    static let maximal = SealDates(limit: 100, after: "\(Sample.person) \(Sample.session)")
    static let canonicalReply = DatesSealed(
        sessions: 50, dates: 140, next: "\(Sample.person) \(Sample.session)")
    static let minimalReply = DatesSealed(sessions: 0, dates: 0)
    static let maximalReply = DatesSealed(
        sessions: Sample.largestInteger, dates: Sample.largestInteger, next: "\(Sample.person) \(Sample.session)")
    static let errors = [
        BusError(
            .sealingOff,
            "Nothing is sealed while QUESTIONNAIRE_SEAL_DATES is false: some replica may not know what is.")
    ]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<SealDates> {
        _ = try await questionnaire.overtaken()
        // This release writes sealed dates only, so each run finds nothing to do.
        return Asked(SealDates(limit: 100), as: .operator)
    }
    static let provocations: [String: Provocation<QuestionnaireProvider, SealDates>] = [
        "sealing_off": { questionnaire in
            let stage = questionnaire.stage
            let setting = ["QUESTIONNAIRE_SEAL_DATES": "false"]
            try await stage.replaceReplicas(by: stage.environment.merging(setting) { $1 })
            return Asked(minimal, as: .operator)
        }
    ]
}

extension QuestionnaireProvider {
    /// An open session with an answer, in a version that is no longer the newest.
    func overtaken() async throws -> (session: Identifier, person: Identifier) {
        let (session, person) = try await family(children: 1)
        try await published(Self.largerFamily)
        return (session, person)
    }
}
