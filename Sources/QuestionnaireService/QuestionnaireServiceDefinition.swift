import BusProtocol
import Documents
import EventLoop
import JSONText
import ServiceRuntime

@main enum QuestionnaireMain {
    static func main() async {
        DefinitionCommand.runIfAsked(Array(CommandLine.arguments.dropFirst()))
        await ServiceProcess.main(QuestionnaireServiceDefinition.definition)
    }
}

/// Assembles the questionnaire service.
enum QuestionnaireServiceDefinition {
    static let definition = ServiceDefinition(
        name: .questionnaire, variables: variables, migrations: QuestionnaireMigrations.all, peers: [.profile],
        countsPeople: true, assemble: assemble)

    static let variables: [ConfigurationVariable] = [
        .init(
            "QUESTIONNAIRE_COMPATIBILITY", .text, "yoked-compat", "Key of the questionnaire behind /compatibility"),
        .init(
            "QUESTIONNAIRE_TOTAL_QUESTIONS", .integer(1...500), "25",
            "Questions that the compatibility questionnaire should have; another number is logged as a warning"),
        .init(
            "QUESTIONNAIRE_REQUIRED_QUESTIONS", .integer(0...500), "10",
            "Required ones among them; another number is logged as a warning"),
        .init(
            "QUESTIONNAIRE_SEAL_DATES", .boolean, "true",
            "Whether dates among answers are sealed; false only while replicas from before it are at work"),
        .init(
            "QUESTIONNAIRE_SEAL_HEALTH", .boolean, "true",
            "Whether answers about health are sealed; false only while replicas from before it are at work"),
    ]

    /// The definitions in this build.
    static let definitions: [[UInt8]] = [
        EmbeddedFiles.Definitions.yoked_compat.bytes, EmbeddedFiles.Definitions.skin_care.bytes,
        EmbeddedFiles.Definitions.eko_family.bytes,
        EmbeddedFiles.Definitions.realsingles_profile.bytes,
    ]

    /// The same, read once in a process: tests start the service hundreds of times.
    private static let shipped = Result { try definitions.map { try DefinitionParser.parse($0) } }

    /// The values on which the gate's report on a shipped definition depends.
    private struct Examined: Hashable {
        let hash: [UInt8]
        let today: CivilDate
        let declared: PublishGate.Declared?
    }

    /// The reports of this process, for the same reason.
    @Loop private static var reports: [Examined: GateReport] = [:]

    @Loop private static func report(
        on definition: Definition, declared: PublishGate.Declared?
    ) async throws -> GateReport {
        let examined = Examined(hash: definition.hash, today: Timestamp.now().date, declared: declared)
        if let known = reports[examined] { return known }
        let report = try await Loop.compute {
            PublishGate.check(definition, today: examined.today, declared: declared)
        }
        reports[examined] = report
        return report
    }

    @Loop private static func assemble(_ container: ServiceContainer) throws {
        let all = try shipped.get()
        let compatibility = try container.configuration.text("QUESTIONNAIRE_COMPATIBILITY")
        let declared = PublishGate.Declared(
            total: Int(try container.configuration.integer("QUESTIONNAIRE_TOTAL_QUESTIONS")),
            required: Int(try container.configuration.integer("QUESTIONNAIRE_REQUIRED_QUESTIONS")))
        let sealer = AnswerSealer(
            container.keys, isSealing: try container.configuration.boolean("QUESTIONNAIRE_SEAL_DATES"),
            isSealingHealth: try container.configuration.boolean("QUESTIONNAIRE_SEAL_HEALTH"))
        let sensitive = SensitiveQuestions()
        let sessions = QuestionnaireSessionStore(database: container.database, sealer: sealer, sensitive: sensitive)
        let definitions = PublishedDefinitions(database: container.database, shipped: all)
        container.handlePersonalData(ExportAnswers.self, sections: QuestionnaireExport.sections(sealer)) {
            sessions.erase($0, in: $1)
        }
        let migrations = QuestionnaireSessionMigrationStore(
            database: container.database, sealer: sealer, sensitive: sensitive)
        let service = QuestionnaireSessionService(
            sessions: sessions, definitions: definitions,
            offers: VersionOffers(definitions: definitions, migrations: migrations), inbox: container.inbox,
            outbox: container.outbox, bus: container.bus)
        container.handle(GetQuestionsHandler(questionnaire: compatibility, service: service))
        container.handle(SubmitResponsesHandler(questionnaire: compatibility, service: service))
        let mover = QuestionnaireSessionMigrator(service: service, migrations: migrations)
        container.handle(MigrateSessionHandler(mover: mover))
        container.handle(UndoMigrationHandler(mover: mover))
        container.handle(MigrateSessionsHandler(mover: mover, log: container.log))
        container.handle(SealDatesHandler(openAnswers: OpenAnswers(database: container.database, sealer: sealer)))
        container.handle(GetExtractsHandler(service: service))
        container.handle(CompareProfilesHandler(sessions: sessions, definitions: definitions))
        container.handle(
            GetStatisticsHandler(
                statistics: StatisticsStore(database: container.statistics, sealer: sealer), definitions: definitions,
                log: container.log))
        let drafts = DocumentDrafts(DocumentStore(.questionnaire, database: container.database))
        let counts = QuestionnaireSessionCounts()
        container.handle(ListQuestionnairesHandler(definitions: definitions))
        container.handle(GetQuestionnaireHandler(definitions: definitions))
        container.handle(GetQuestionnaireVersionHandler(definitions: definitions))
        container.handle(ViewQuestionnaireHandler(drafts: drafts, sessions: counts))
        container.handleDrafts(drafts)
        container.handle(
            CheckDraftHandler(drafts: drafts, bus: container.bus, isSealingHealth: sealer.isSealingHealth))
        container.handle(
            PublishDraftHandler(
                inbox: container.inbox, audit: container.audit, bus: container.bus, drafts: drafts, sessions: counts,
                isSealingHealth: sealer.isSealingHealth))
        container.handle(RetireVersionHandler(audit: container.audit, drafts: drafts, sessions: counts))
        container.handle(CompareVersionsHandler(drafts: drafts))
        container.handle(OpenSessionHandler(service: service))
        container.handle(ListQuestionnaireSessionsHandler(sessions: sessions))
        container.handle(GetSessionHandler(service: service))
        container.handle(GetSessionScreensHandler(service: service))
        container.handle(CompleteSessionHandler(service: service))
        container.handle(ReopenSessionHandler(service: service))
        container.handle(StopSessionHandler(service: service))
        container.handle(PutAnswerHandler(service: service))
        container.handle(DeleteAnswerHandler(service: service))
        container.handle(PutAnswersHandler(service: service))
        container.handle(PutSubjectHandler(service: service))
        container.handle(RemoveSubjectHandler(service: service))
        // Answers stay in memory for a short time only. An erased person's answers are gone after two minutes.
        container.background("questionnaire-session-memory", every: .seconds(60)) { service.memory.age() }
        container.background("histories", every: .seconds(3600)) { while try await sessions.purge() {} }
        // Runs once per process, because published versions never change.
        container.background("definition-import", every: nil) {
            // A replica of the previous release cannot read a definition that marks questions.
            for definition in all where sealer.isSealingHealth || definition.sensitive.isEmpty {
                let report = try await report(
                    on: definition, declared: definition.key == compatibility ? declared : nil)
                try await DefinitionImport(database: container.database, definition: definition).start(
                    report, log: container.log)
            }
        }
    }
}
