import BusProtocol
import EventLoop
import JSONText
import ServiceRuntime

@main enum QuestionnaireMain {
    static func main() async {
        DefinitionCommand.runIfAsked(Array(CommandLine.arguments.dropFirst()))
        await ServiceProcess.main(QuestionnaireBlueprint.blueprint)
    }
}

/// How questionnaire is put together.
enum QuestionnaireBlueprint {
    static let blueprint = ServiceBlueprint(
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

    /// The definitions of this build.
    static let definitions: [[UInt8]] = [
        EmbeddedFiles.Definitions.yoked_compat.bytes, EmbeddedFiles.Definitions.skin_care.bytes,
        EmbeddedFiles.Definitions.eko_family.bytes,
        EmbeddedFiles.Definitions.realsingles_profile.bytes,
    ]

    @Loop private static func assemble(_ house: ServiceHouse) throws {
        let all = try definitions.map { try DefinitionParser.parse($0) }
        let declared = PublishGate.Declared(
            total: Int(try house.configuration.integer("QUESTIONNAIRE_TOTAL_QUESTIONS")),
            required: Int(try house.configuration.integer("QUESTIONNAIRE_REQUIRED_QUESTIONS")))
        let dates = DateSealer(
            house.keys, isSealing: try house.configuration.boolean("QUESTIONNAIRE_SEAL_DATES"))
        let sessions = SessionStore(database: house.database, dates: dates)
        let definitions = DefinitionStore(database: house.database, shipped: all)
        house.handle(
            ExportAnswersHandler(
                export: PersonExport(database: house.database, sections: QuestionnaireExport.sections(dates))))
        house.handle(AccountDeletedHandler(house: house) { sessions.erase($0, in: $1) })
        let migrations = MigrationStore(database: house.database, dates: dates)
        let desk = SessionDesk(
            sessions: sessions, definitions: definitions,
            offers: OfferStore(definitions: definitions, migrations: migrations), inbox: house.inbox,
            outbox: house.outbox, bus: house.bus)
        house.handle(GetQuestionsHandler(questionnaire: CompatibilityQuestionnaire.key, desk: desk))
        house.handle(SubmitResponsesHandler(questionnaire: CompatibilityQuestionnaire.key, desk: desk))
        let mover = SessionMover(desk: desk, migrations: migrations)
        house.handle(MigrateSessionHandler(mover: mover))
        house.handle(UndoMigrationHandler(mover: mover))
        house.handle(MigrateSessionsHandler(mover: mover, log: house.log))
        house.handle(SealDatesHandler(openDates: OpenDates(database: house.database, dates: dates)))
        house.handle(GetExtractsHandler(sessions: sessions, definitions: definitions))
        house.handle(CompareProfilesHandler(sessions: sessions, definitions: definitions))
        house.handle(
            GetStatisticsHandler(
                statistics: StatisticsStore(database: house.database, dates: dates), definitions: definitions,
                log: house.log))
        let drafts = DraftStore(database: house.database)
        house.handle(ListQuestionnairesHandler(definitions: definitions))
        house.handle(GetQuestionnaireHandler(definitions: definitions))
        house.handle(GetQuestionnaireVersionHandler(definitions: definitions))
        house.handle(ViewQuestionnaireHandler(drafts: drafts))
        house.handle(CreateDraftHandler(house: house, drafts: drafts))
        house.handle(GetDraftHandler(drafts: drafts))
        house.handle(PutDraftHandler(drafts: drafts))
        house.handle(DeleteDraftHandler(drafts: drafts))
        house.handle(CheckDraftHandler(drafts: drafts, bus: house.bus))
        house.handle(PublishDraftHandler(house: house, drafts: drafts))
        house.handle(RetireVersionHandler(house: house, drafts: drafts))
        house.handle(CompareVersionsHandler(drafts: drafts))
        house.handle(OpenSessionHandler(desk: desk))
        house.handle(ListQuestionnaireSessionsHandler(sessions: sessions))
        house.handle(GetSessionHandler(desk: desk))
        house.handle(CompleteSessionHandler(desk: desk))
        house.handle(ReopenSessionHandler(desk: desk))
        house.handle(StopSessionHandler(desk: desk))
        house.handle(PutAnswerHandler(desk: desk))
        house.handle(DeleteAnswerHandler(desk: desk))
        house.handle(PutAnswersHandler(desk: desk))
        house.handle(PutSubjectHandler(desk: desk))
        house.handle(RemoveSubjectHandler(desk: desk))
        house.background("session-memory") { try await desk.memory.ageEachMinute() }
        house.background("histories") {
            try await house.database.waitUntilAvailable()
            while try await sessions.purge() {}
            try await Loop.sleep(for: .seconds(3600))
        }
        house.background("definition-import") {
            for definition in all {
                let isCompatibility = definition.key == CompatibilityQuestionnaire.key
                if try await passes(definition, isCompatibility ? declared : nil, in: house) {
                    try await publish(definition, in: house)
                }
            }
            // Once for each process: what is published stays so.
            while true { try await Loop.sleep(for: .seconds(86_400)) }
        }
    }

    @Loop private static func publish(_ shipped: Definition, in house: ServiceHouse) async throws {
        try await house.database.waitUntilAvailable()
        let named: [String: JSONValue] = ["questionnaire": .string(shipped.key), "version": .integer(shipped.version)]
        do {
            let result = try await DefinitionImport(database: house.database, definition: shipped).run()
            if result == .published { house.log.info("definition_published", named) }
        } catch is DefinitionImport.Edited {
            // People go on with the text that was published; the edited one never takes its place.
            house.log.error("definition_edited_after_publication", named)
        } catch let error as DefinitionError {
            for problem in error.problems { house.log.error("definition_refused", problem.logged(of: shipped)) }
        }
    }

    /// What the gate refuses is not published; people go on with what was published before.
    @Loop private static func passes(
        _ shipped: Definition, _ declared: PublishGate.Declared?, in house: ServiceHouse
    ) async throws -> Bool {
        let report = try await Loop.compute {
            PublishGate.check(shipped, today: Timestamp.now().date, declared: declared)
        }
        for problem in report.problems { house.log.error("definition_refused", problem.logged(of: shipped)) }
        for problem in report.warnings { house.log.warning("definition_warning", problem.logged(of: shipped)) }
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
