import BusProtocol
import BusRuntime
import Database
import EventLoop
import Foundation
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

@Suite("the questionnaire service") @Loop struct QuestionnaireServiceTests {
    let person = Identifier.random()

    /// Paths from before there were several questionnaires use the one that the operator names.
    @Test func anOperatorNamesTheQuestionnaireOfTheCompatibilityPaths() async throws {
        try await withService(environment: ["QUESTIONNAIRE_COMPATIBILITY": "eko-family"]) { service in
            let opened = try await service.questions(as: .random())
            #expect(opened.questionnaire.key == "eko-family")
        }
    }

    @Test func replicasThatStartTogetherPublishOnce() async throws {
        try await withService(replicas: 3) { service in
            let definitions = try QuestionnaireServiceDefinition.definitions.map { try DefinitionParser.parse($0) }
            for container in service.containers {
                for definition in definitions {
                    let shipped = DefinitionImport(database: container.database, definition: definition)
                    let result = try await patiently { try await shipped.run() }
                    #expect(result == .alreadyThere)
                }
            }
            let stored = try await service.rows(
                "SELECT questionnaire, version, encode(sha256(convert_to(content, 'UTF8')), 'hex') FROM definitions")
            let expected = definitions.map { "\($0.key)|\($0.version)|\($0.reference(in: "en").hash)" }
            #expect(Set(stored.split(separator: "\n").map(String.init)) == Set(expected))
        }
    }

    @Test func aPublishedVersionIsNeverReplaced() async throws {
        try await withService { service in
            let edited = try Self.shipped(setting: "strings.en.title", to: "Another title")
            await #expect(throws: DefinitionImport.Edited.self) {
                try await DefinitionImport(database: service.containers[0].database, definition: edited).run()
            }
            #expect(try await service.questions(as: person).questionnaire.title == "What matters to you")
            await #expect(throws: (any Error).self) { try await service.rows("UPDATE definitions SET version = 2") }
        }
    }

    @Test func aRetiredKeyIsNotUsedAgain() async throws {
        try await withService { service in
            func publish(_ version: Int64, _ key: String) async throws {
                let json = Sample.definition([Sample.question(key, "boolean")]).setting(
                    "version", to: .integer(version))
                let definition = try DefinitionParserTests.parse(json)
                _ = try await DefinitionImport(database: service.containers[0].database, definition: definition).run()
            }
            try await publish(4, "fresh")
            let error = await #expect(throws: DefinitionError.self) { try await publish(5, "smoking") }
            #expect(error?.problems.map(\.code) == ["E14"] && error?.problems.first?.keys == ["smoking"])
            #expect(try await service.rows("SELECT max(version) FROM definitions") == "4")
        }
    }

    @Test func concurrentOpensMakeOneSession() async throws {
        try await withService(replicas: 2) { service in
            let views = try await atOnce(24) { try await patiently { try await service.questions(as: person) } }
            #expect(Set(views.map(\.sessionId)).count == 1)
            #expect(try await service.rows("SELECT count(*) FROM sessions") == "1")
        }
    }

    @Test func showsEveryQuestionAndWhereToBegin() async throws {
        try await withService { service in
            let view = try await service.questions(as: person)
            #expect(view.questions.count == 25 && view.answers.isEmpty && view.status == .inProgress)
            #expect(
                view.progress == QuestionnaireProgress(answered: 0, total: 25, requiredRemaining: 10, percentage: 0))
            #expect(view.nextQuestion == view.questions[0].key)
            #expect(try QuestionsView.schema.problems(in: JSONDocument(WireJSON.encode(view)).root).isEmpty)
        }
    }

    @Test func savesEachAnswerAndResumesAtTheNextQuestion() async throws {
        try await withService { service in
            let start = try await service.questions(as: person)
            for (index, answer) in anyAnswers(to: start.questions).prefix(4).enumerated() {
                let reply = try await service.submit([answer], session: start.sessionId, as: person)
                #expect(reply.progress.answered == Int64(index + 1))
                #expect(reply.nextQuestion == start.questions[index + 1].key)
                #expect(reply.answers == [AnswerRevision(question: answer.question, revision: 1)])
            }
            let resumed = try await service.questions(as: person)
            #expect(resumed.sessionId == start.sessionId && resumed.nextQuestion == start.questions[4].key)
            #expect(resumed.answers.map(\.question) == start.questions.prefix(4).map(\.key))
            #expect(resumed.answers[1].value == ["family", "stability", "honesty"])
        }
    }

    @Test func savingAgainChangesNothingAndAChangeIsRemembered() async throws {
        try await withService { service in
            for value in ["want", "want", "open", "open"] {
                try await service.submit([ResponseItem(question: "familyPlans", value: .string(value))], as: person)
            }
            let reply = try await service.submit([ResponseItem(question: "familyPlans", state: .declined)], as: person)
            #expect(reply.answers == [AnswerRevision(question: "familyPlans", revision: 3)])
            let history = try await service.rows("SELECT revision, state, value FROM answer_history ORDER BY revision")
            #expect(history == "1|answered|\"want\"\n2|answered|\"open\"\n3|declined|")
        }
    }

    @Test func aBadAnswerSavesNothingOfItsRequest() async throws {
        try await withService { service in
            let good = ResponseItem(question: "smoking", value: "never")
            let bad = ResponseItem(question: "sharedDecisions", value: 11)
            let error = await #expect(throws: BusError.self) { try await service.submit([good, bad, bad], as: person) }
            #expect(error?.code == "validation_failed" && error?.executed == .no)
            #expect(error?.errors?.map(\.field) == ["answers.1.value", "answers.2.value"])
            let answers = try await service.questions(as: person).answers
            #expect(answers == [])
        }
    }

    @Test func aQueuedAnswerIsRefusedInTheLanguageOfTheRequest() async throws {
        try await withService { service in
            let session = try await service.questions(as: person).sessionId
            var swedish = service.options(person, key: "queue")
            swedish.language = "sv"
            let bad = QueuedAnswer(question: "nobody", mutationId: .ordered(), state: .answered, value: 11)
            let saved = try await service.gateway.call(
                PutAnswers(questionnaire: "yoked-compat", sessionId: session, answers: [bad]), swedish)
            #expect(saved.results.map { $0.error?.detail } == ["Det finns ingen sådan fråga."])
            // As in the problem of a single request: where, what, and the sentence.
            let problem = FieldProblem(
                field: "answers.0.question", pointer: "/answers/0/question", code: "unknown_question",
                message: "Det finns ingen sådan fråga.")
            #expect(saved.results.map { $0.error?.errors } == [[problem]])
        }
    }

    @Test func twoDevicesOnOneQuestionAndOnTwo() async throws {
        try await withService { service in
            try await service.submit([ResponseItem(question: "smoking", value: "never", baseRevision: 0)], as: person)
            try await service.submit([ResponseItem(question: "drinking", value: "rarely", baseRevision: 0)], as: person)
            let late = ResponseItem(question: "smoking", value: "socially", baseRevision: 0)
            let error = await #expect(throws: BusError.self) { try await service.submit([late], as: person) }
            #expect(error?.code == "answer_conflict")
            let current: JSONValue = ["question": "smoking", "revision": 1, "state": "answered", "value": "never"]
            #expect(error?.details?["current"] == [current])
            let equal = ResponseItem(question: "smoking", value: "never", baseRevision: 0)
            #expect(try await service.submit([equal], as: person).answers[0].revision == 1)
        }
    }

    @Test func aRepeatedMutationIsAppliedOnce() async throws {
        try await withService(replicas: 2) { service in
            let item = ResponseItem(question: "smoking", value: "never", mutationId: .ordered(), baseRevision: 0)
            _ = try await service.questions(as: person)
            let replies = try await atOnce(10) { try await patiently { try await service.submit([item], as: person) } }
            #expect(replies.allSatisfy { $0.answers == [AnswerRevision(question: "smoking", revision: 1)] })
            try await service.submit([ResponseItem(question: "smoking", value: "socially")], as: person)
            #expect(try await service.submit([item], as: person).answers[0].revision == 1)
            #expect(try await service.questions(as: person).answers[0].value == "socially")
            var other = item
            other.value = "regularly"
            let error = await #expect(throws: BusError.self) { try await service.submit([other], as: person) }
            #expect(error?.code == "mutation_id_reused")
        }
    }

    @Test func aClientsKeyIsAnsweredFromTheInbox() async throws {
        try await withService { service in
            let first = ResponseItem(question: "smoking", value: "never")
            let reply = try await service.submit([first], as: person, key: "my-key")
            try await service.submit(
                [ResponseItem(question: "smoking", value: "socially")], as: person, key: "my-other")
            #expect(try await service.submit([first], as: person, key: "my-key") == reply)
            #expect(try await service.questions(as: person).answers[0].value == "socially", "not done again")
            let error = await #expect(throws: BusError.self) { try await service.submit([], as: person, key: "my-key") }
            #expect(error?.code == "idempotency_key_reused")
            #expect(try await service.rows("SELECT count(*) FROM inbox") == "2", "the gateway's keys leave no row")
        }
    }

    @Test func anEarlyCompletionNamesMissingAnswersAndKeepsTheRest() async throws {
        try await withService { service in
            let answer = ResponseItem(question: "relationshipGoal", value: "long_term")
            let error = await #expect(throws: BusError.self) {
                try await service.submit([answer], complete: true, as: person)
            }
            #expect(error?.code == "questionnaire_incomplete" && error?.executed == .yes)
            let view = try await service.questions(as: person)
            let missing = view.questions.filter { $0.required && $0.key != "relationshipGoal" }.map(\.key)
            #expect(error?.errors?.map(\.field) == missing && missing.count == 9)
            #expect(view.answers.map(\.question) == ["relationshipGoal"] && view.status == .inProgress)
            #expect(try await service.rows("SELECT count(*) FROM snapshots") == "0")
        }
    }

    @Test func aRepeatedCompletionNotifiesProfileOnce() async throws {
        try await withService(replicas: 2) { service in
            let view = try await service.questions(as: person)
            let required = anyAnswers(to: view.questions.filter(\.required))
            let reply = try await service.submit(required, session: view.sessionId, complete: true, as: person)
            #expect(reply.status == .completed && reply.progress.requiredRemaining == 0)
            #expect(reply.progress.answered == 10 && reply.nextQuestion == "moneyOutlook")
            let again = try await service.submit(required, session: view.sessionId, complete: true, as: person)
            #expect(again == reply)
            #expect(try await service.submit([], complete: true, as: person).status == .completed)
            let event = try #require(try await service.listener.first())
            #expect(event.personID == person && event.personSequence == 2 && event.sessionID == view.sessionId)
            #expect(event.questionnaire == "yoked-compat" && event.version == 3)
            #expect(try await service.rows("SELECT count(*) FROM snapshots") == "1")
            #expect(try await service.rows("SELECT last FROM outbox_sequences") == "2")
            let snapshot = try await service.rows(
                "SELECT answers -> 'relationshipGoal' ->> 'value', scores -> 'values' ->> 'answered' FROM snapshots")
            #expect(snapshot == "life_partner|4")
            #expect(try await service.questions(as: person).sessionId == view.sessionId, "no second session")
        }
    }

    /// The person reads their onboarding next.
    @Test(.bounded) func aCompletionRepliesOnceProfileHasReceivedIt() async throws {
        try await withService { service in
            service.listener.delay = .milliseconds(20)
            let first = try await service.questions(as: person)
            try await service.submit(anyAnswers(to: first.questions), complete: true, as: person)
            #expect(service.listener.heard.map(\.personID) == [person], .time)

            let other = Identifier.random()
            let second = try await service.questions(as: other)
            try await service.submit(anyAnswers(to: second.questions), as: other)
            let complete = CompleteSession(questionnaire: "yoked-compat", sessionId: second.sessionId)
            _ = try await service.gateway.call(complete, service.options(other, key: "a-key-of-the-client"))
            #expect(service.listener.heard.map(\.personID) == [person, other], .time)
        }
    }

    @Test(.bounded) func aCompletionWaitsForProfileBriefly() async throws {
        try await withService { service in
            service.listener.delay = .seconds(2)
            let view = try await service.questions(as: person)
            let clock = ContinuousClock()
            let began = clock.now
            let reply = try await service.submit(anyAnswers(to: view.questions), complete: true, as: person)
            #expect(reply.status == .completed && service.listener.heard.isEmpty)
            #expect(clock.now - began < .milliseconds(600), .time)
        }
    }

    @Test func aChangeAfterwardsAmendsAndTheFirstSnapshotStays() async throws {
        try await withService { service in
            let view = try await service.questions(as: person)
            try await service.submit(anyAnswers(to: view.questions), complete: true, as: person)
            let before = try await service.rows("SELECT answers, scores, status FROM snapshots WHERE number = 1")
            let reply = try await service.submit([ResponseItem(question: "smoking", value: "regularly")], as: person)
            #expect(reply.status == .amended && reply.progress.percentage == 100 && reply.nextQuestion == nil)
            #expect(try await service.submit([], complete: true, as: person).status == .amended)
            #expect(try await service.rows("SELECT answers, scores, status FROM snapshots WHERE number = 1") == before)
            #expect(try await service.rows("SELECT status FROM snapshots WHERE number = 2") == "amended")
            for sql in ["UPDATE snapshots SET number = 3", "DELETE FROM snapshots", "DELETE FROM answer_history"] {
                await #expect(throws: DatabaseError.statement(sqlState: "42501", constraint: nil)) {
                    try await service.containers[0].database.write(Statement(sql))
                }
            }
        }
    }

    @Test func sessionsStayWithTheVersionThatTheyBeganWith() async throws {
        try await withService(replicas: 2) { service in
            let old = try await service.questions(as: person)
            let next = try Self.shipped(setting: "version", to: 4)
            let shipped = DefinitionImport(database: service.containers[0].database, definition: next)
            #expect(try await patiently { try await shipped.run() } == .published)
            #expect(try await service.questions(as: person).questionnaire == old.questionnaire)
            let other = try await service.questions(as: .random())
            #expect(other.questionnaire.version == 4 && other.questionnaire.hash == next.reference(in: "en").hash)
        }
    }

    @Test func aPersonCannotUseAnothersSession() async throws {
        try await withService { service in
            let theirs = try await service.questions(as: .random()).sessionId
            let answer = [ResponseItem(question: "smoking", value: "never")]
            for id in [theirs, .ordered()] {
                let error = await #expect(throws: BusError.self) {
                    try await service.submit(answer, session: id, as: person)
                }
                #expect(error?.code == "not_found")
            }
            let unsigned = await #expect(throws: BusError.self) {
                try await service.gateway.call(GetQuestions(), service.options(nil))
            }
            #expect(unsigned?.code == "unauthorized")
            let unsignedWrite = await #expect(throws: BusError.self) {
                try await service.gateway.call(SubmitResponses(answers: []), service.options(nil))
            }
            #expect(unsignedWrite?.code == "unauthorized")
        }
    }

    @Test func migrationsAreThoseOfTheFolder() throws {
        #expect(try SourceFolder.migrations(of: "QuestionnaireService") == QuestionnaireMigrations.all)
    }

    /// The definition of this build with one member changed.
    private static func shipped(setting path: String, to value: JSONValue) throws -> Definition {
        let file = try JSONDocument(EmbeddedFiles.Definitions.yoked_compat.bytes, limits: JSONLimits(values: 65_536))
            .root.value
        return try DefinitionParser.parse(CanonicalJSON.bytes(of: file.setting(path, to: value)))
    }
}
