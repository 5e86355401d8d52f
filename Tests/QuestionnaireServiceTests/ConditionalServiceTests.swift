import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

@Suite("the service, where questions depend on answers") @Loop struct ConditionalServiceTests {
    let person = Identifier.random()

    /// Publishes the definition as the newest version, so that new sessions use it.
    static func run(
        asking json: JSONValue, replicas: Int = 1, environment: [String: String] = [:],
        _ body: @escaping @Loop @Sendable (RunningService) async throws -> Void
    ) async throws {
        try await withService(replicas: replicas, environment: environment) { service in
            try await service.publish(json)
            try await body(service)
        }
    }

    @Test func conditionalQuestionsFollowTheirSourceAnswer() async throws {
        try await Self.run(asking: ConditionalSheetTests.json) { service in
            let start = try await service.questions(as: person)
            #expect(start.questions.map(\.visible) == [true, false, true, false])
            #expect(start.questions[2].options?.map(\.key) == ["sleep"] && start.nextQuestion == "sex")
            #expect(start.progress == QuestionnaireProgress(answered: 0, total: 2, requiredRemaining: 1, percentage: 0))

            let female = try await service.submit([ResponseItem(question: "sex", value: "female")], as: person)
            #expect(female.shown == ["cycle"] && female.hidden == nil && female.nextQuestion == "cycle")
            #expect(
                female.progress == QuestionnaireProgress(answered: 1, total: 3, requiredRemaining: 1, percentage: 33))
            try await service.submit([ResponseItem(question: "cycle", value: 28)], as: person)
            let view = try await service.questions(as: person)
            #expect(view.questions[1].visible && view.questions[1].required && view.answers.map(\.question).count == 2)

            let male = try await service.submit([ResponseItem(question: "sex", value: "male")], as: person)
            #expect(male.hidden == ["cycle"] && male.shown == nil && male.nextQuestion == "goals")
            #expect(male.progress == QuestionnaireProgress(answered: 1, total: 2, requiredRemaining: 0, percentage: 50))
            #expect(try await service.questions(as: person).answers.map(\.question) == ["sex"])
            #expect(try await service.rows("SELECT value FROM answers WHERE question = 'cycle'") == "28", "kept")

            let again = try await service.submit([ResponseItem(question: "sex", value: "female")], as: person)
            #expect(again.shown == ["cycle"] && again.nextQuestion == "goals", "and counted again")
        }
    }

    @Test func completionAndItsSnapshotCoverOnlyShownQuestions() async throws {
        try await Self.run(asking: ConditionalSheetTests.json) { service in
            let cycle = ResponseItem(question: "cycle", value: 28)
            try await service.submit([ResponseItem(question: "sex", value: "female"), cycle], as: person)
            let other = Identifier.random()
            let early = await #expect(throws: BusError.self) {
                try await service.submit([ResponseItem(question: "sex", value: "female")], complete: true, as: other)
            }
            #expect(early?.errors?.map(\.field) == ["cycle"])
            let male = try await service.submit(
                [ResponseItem(question: "sex", value: "male"), ResponseItem(question: "goals", value: ["beard"])],
                complete: true, as: person)
            #expect(male.status == .completed && male.shown == ["why"])
            let keys =
                "SELECT string_agg(key, ',' ORDER BY key) FROM snapshots, jsonb_object_keys(answers) key WHERE number = "
            #expect(try await service.rows(keys + "1") == "goals,sex")
            let amended = try await service.submit([ResponseItem(question: "sex", value: "female")], as: person)
            #expect(amended.status == .amended && amended.stale == ["goals"] && amended.hidden == ["why"])
            #expect(try await service.rows(keys + "2") == "cycle,sex", "the answer that is none any more is left out")
        }
    }

    @Test func aStaleAnswerIsMarkedAndBlocksCompletion() async throws {
        try await Self.run(asking: ConditionalSheetTests.json) { service in
            try await service.submit(
                [ResponseItem(question: "sex", value: "male"), ResponseItem(question: "goals", value: ["beard"])],
                as: person)
            let items = [ResponseItem(question: "sex", value: "female"), ResponseItem(question: "cycle", value: 28)]
            let error = await #expect(throws: BusError.self) {
                try await service.submit(items, complete: true, as: person)
            }
            let missing: JSONValue = [["question": "goals", "reason": "stale"]]
            #expect(error?.code == "questionnaire_incomplete" && error?.details?["missing"] == missing)
            let view = try await service.questions(as: person)
            #expect(view.answers.map(\.stale) == [nil, nil, true] && view.answers[2].value == ["beard"])
            let refused = await #expect(throws: BusError.self) {
                try await service.submit([ResponseItem(question: "goals", value: ["beard"])], as: person)
            }
            #expect(refused?.errors?.map(\.code) == ["unknown_option"])
            let done = try await service.submit(
                [ResponseItem(question: "goals", value: ["sleep"])], complete: true, as: person)
            #expect(done.status == .completed)
        }
    }

    @Test func anAnswerToAHiddenQuestionIsKeptForLater() async throws {
        try await Self.run(asking: ConditionalSheetTests.json) { service in
            let offline = try await service.submit([ResponseItem(question: "cycle", value: 30)], as: person)
            #expect(offline.answers == [AnswerRevision(question: "cycle", revision: 1)])
            #expect(offline.progress.answered == 0 && offline.nextQuestion == "sex")
            let female = try await service.submit([ResponseItem(question: "sex", value: "female")], as: person)
            #expect(female.progress.answered == 2 && female.nextQuestion == "goals")
        }
    }
}
