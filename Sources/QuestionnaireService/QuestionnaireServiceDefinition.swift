import BusProtocol
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
        assemble: assemble)

    static let variables: [ConfigurationVariable] = [
        .init(
            "QUESTIONNAIRE_TOTAL_QUESTIONS", .integer(1...500), "25",
            "Questions that the compatibility questionnaire should have; another number is logged as a warning"),
        .init(
            "QUESTIONNAIRE_REQUIRED_QUESTIONS", .integer(0...500), "10",
            "Required ones among them; another number is logged as a warning"),
        .init(
            "QUESTIONNAIRE_SEAL_DATES", .boolean, "true",
            "Whether dates among answers are sealed; false only while replicas from before it are at work"),
    ]

    /// The definitions in this build.
    static let definitions: [[UInt8]] = [
        EmbeddedFiles.Definitions.yoked_compat.bytes, EmbeddedFiles.Definitions.skin_care.bytes,
        EmbeddedFiles.Definitions.eko_family.bytes,
        EmbeddedFiles.Definitions.realsingles_profile.bytes,
    ]

    @Loop private static func assemble(_ container: ServiceContainer) throws {
        let all = try definitions.map { try DefinitionParser.parse($0) }
        let declared = PublishGate.Declared(
            total: Int(try container.configuration.integer("QUESTIONNAIRE_TOTAL_QUESTIONS")),
            required: Int(try container.configuration.integer("QUESTIONNAIRE_REQUIRED_QUESTIONS")))
        let dates = DateSealer(
            container.keys, isSealing: try container.configuration.boolean("QUESTIONNAIRE_SEAL_DATES"))
        let sessions = SessionStore(database: container.database, dates: dates)
        let definitions = DefinitionStore(database: container.database, shipped: all)
        container.sections = QuestionnaireExport.sections(dates)
        container.handle(ExportAnswersHandler(export: container.export))
        container.handle(AccountDeletedHandler(container: container) { sessions.erase($0, in: $1) })
        let migrations = SessionMigrationStore(database: container.database, dates: dates)
        let service = SessionService(
            sessions: sessions, definitions: definitions,
            offers: VersionOffers(definitions: definitions, migrations: migrations), inbox: container.inbox,
            outbox: container.outbox, bus: container.bus)
        container.handle(GetQuestionsHandler(questionnaire: CompatibilityQuestionnaire.key, service: service))
        container.handle(SubmitResponsesHandler(questionnaire: CompatibilityQuestionnaire.key, service: service))
        let mover = SessionMigrator(service: service, migrations: migrations)
        container.handle(MigrateSessionHandler(mover: mover))
        container.handle(UndoMigrationHandler(mover: mover))
        container.handle(MigrateSessionsHandler(mover: mover, log: container.log))
        container.handle(SealDatesHandler(openDates: OpenDates(database: container.database, dates: dates)))
        container.handle(GetExtractsHandler(sessions: sessions, definitions: definitions))
        container.handle(CompareProfilesHandler(sessions: sessions, definitions: definitions))
        container.handle(
            GetStatisticsHandler(
                statistics: StatisticsStore(database: container.database, dates: dates), definitions: definitions,
                log: container.log))
        let drafts = DraftStore(database: container.database)
        container.handle(ListQuestionnairesHandler(definitions: definitions))
        container.handle(GetQuestionnaireHandler(definitions: definitions))
        container.handle(GetQuestionnaireVersionHandler(definitions: definitions))
        container.handle(ViewQuestionnaireHandler(drafts: drafts))
        container.handle(CreateDraftHandler(inbox: container.inbox, drafts: drafts))
        container.handle(GetDraftHandler(drafts: drafts))
        container.handle(PutDraftHandler(drafts: drafts))
        container.handle(DeleteDraftHandler(drafts: drafts))
        container.handle(CheckDraftHandler(drafts: drafts, bus: container.bus))
        container.handle(
            PublishDraftHandler(inbox: container.inbox, audit: container.audit, bus: container.bus, drafts: drafts))
        container.handle(RetireVersionHandler(database: container.database, audit: container.audit, drafts: drafts))
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
        container.background("session-memory", every: .seconds(60)) { service.memory.age() }
        container.background("histories", every: .seconds(3600)) { while try await sessions.purge() {} }
        // Runs once per process, because published versions never change.
        container.background("definition-import", every: nil) {
            for definition in all {
                let isCompatibility = definition.key == CompatibilityQuestionnaire.key
                if try await passes(definition, isCompatibility ? declared : nil, in: container) {
                    try await publish(definition, in: container)
                }
            }
        }
    }

    @Loop private static func publish(_ shipped: Definition, in container: ServiceContainer) async throws {
        try await container.database.waitUntilAvailable()
        let named: [String: JSONValue] = ["questionnaire": .string(shipped.key), "version": .integer(shipped.version)]
        do {
            let result = try await DefinitionImport(database: container.database, definition: shipped).run()
            if result == .published { container.log.info("definition_published", named) }
        } catch is DefinitionImport.Edited {
            // The published text stays in use. The edited text never replaces it.
            container.log.error("definition_edited_after_publication", named)
        } catch let error as DefinitionError {
            for problem in error.problems { container.log.error("definition_refused", problem.logged(of: shipped)) }
        }
    }

    /// Whether a definition passes the rules for publishing. If it does not, people go on with the version that is
    /// published.
    @Loop private static func passes(
        _ shipped: Definition, _ declared: PublishGate.Declared?, in container: ServiceContainer
    ) async throws -> Bool {
        let report = try await Loop.compute {
            PublishGate.check(shipped, today: Timestamp.now().date, declared: declared)
        }
        for problem in report.problems { container.log.error("definition_refused", problem.logged(of: shipped)) }
        for problem in report.warnings { container.log.warning("definition_warning", problem.logged(of: shipped)) }
        return report.problems.isEmpty
    }
}

extension DefinitionProblem {
    fileprivate func logged(of definition: Definition) -> [String: JSONValue] {
        [
            "questionnaire": .string(definition.key), "version": .integer(definition.version), "code": .string(code),
            "pointer": .string(pointer), "problem": .string(message),
        ]
    }
}
