import BusProtocol
import EventLoop
import JSONText
import ServiceRuntime

@main enum QuestionnaireMain {
    static func main() async { await ServiceProcess.main(QuestionnaireBlueprint.blueprint) }
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
    ]

    @Loop private static func assemble(_ house: ServiceHouse) throws {
        let shipped = try DefinitionParser.parse(PackageResources.yoked_compat_json)
        try warnOfCounts(shipped, house)
        let sessions = SessionStore(database: house.database)
        let definitions = DefinitionStore(database: house.database, shipped: shipped)
        house.handle(
            GetQuestionsHandler(questionnaire: shipped.key, sessions: sessions, definitions: definitions))
        house.handle(
            SubmitResponsesHandler(
                questionnaire: shipped.key, sessions: sessions, definitions: definitions, inbox: house.inbox,
                outbox: house.outbox))
        house.background("definition-import") {
            try await publish(shipped, in: house)
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
        }
    }

    @Loop private static func warnOfCounts(_ definition: Definition, _ house: ServiceHouse) throws {
        let total = Int64(definition.questions.count(where: \.isCounted))
        let required = Int64(definition.questions.count(where: \.required))
        let wanted = (
            total: try house.configuration.integer("QUESTIONNAIRE_TOTAL_QUESTIONS"),
            required: try house.configuration.integer("QUESTIONNAIRE_REQUIRED_QUESTIONS")
        )
        guard (total, required) != wanted else { return }
        house.log.warning(
            "definition_counts_differ",
            [
                "questionnaire": .string(definition.key), "total": .integer(total), "required": .integer(required),
                "wantedTotal": .integer(wanted.total), "wantedRequired": .integer(wanted.required),
            ])
    }
}
