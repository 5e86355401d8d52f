import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

/// Saving answers that fill fields of the profile, on the running service.
@Suite("saving answers to fields of the profile") @Loop struct ProfileAnswerServiceTests {
    private let person = Identifier.random()

    private static let definition = Sample.definition([
        Sample.question("name", "text", ["extract": ["profileField": "firstName"]]),
        Sample.question("about", "text", ["extract": ["profileField": "bio"]]), Sample.question("plain", "text"),
    ]).setting("version", to: 4)

    private static let key = "yoked-compat"

    private func put(
        _ question: String, _ value: JSONValue, in session: Identifier, mutation: Identifier = .ordered(),
        _ service: RunningService
    ) async throws -> AnswerSaved {
        try await patiently {
            try await service.gateway.call(
                PutAnswer(
                    questionnaire: Self.key, sessionId: session, question: question, mutationId: mutation,
                    state: .answered, value: value), service.options(person))
        }
    }

    private func open(_ service: RunningService) async throws -> Identifier {
        try await service.gateway.call(OpenSession(questionnaire: Self.key), service.options(person)).id
    }

    @Test func onlyAnAnswerToAFieldAsksProfile() async throws {
        try await ConditionalServiceTests.run(asking: Self.definition) { service in
            let session = try await open(service)
            _ = try await put("plain", "Hello", in: session, service)
            #expect(service.judge.asked.isEmpty)
            let mutation = Identifier.ordered()
            let saved = try await put("name", "Zoë", in: session, mutation: mutation, service)
            let told = try await service.changes.atLeast(1)
            #expect(told[0].fields == ["firstName"] && told[0].sessionID == session && told[0].personID == person)
            #expect(!String(decoding: told[0].jsonBytes, as: UTF8.self).contains("Zoë"))
            let times = service.judge.asked.count
            #expect(try await put("name", "Zoë", in: session, mutation: mutation, service) == saved)
            #expect(service.judge.asked.count == times && service.changes.heard.count == 1, "a repetition")
            let profile = try service.stage.asking(as: .profile)
            let request = GetExtracts(
                personID: person, sessionID: session, questionnaire: Self.key, fields: ["bio", "firstName"])
            let extracts = try await profile.call(request, service.options(nil)).extracts
            #expect(extracts == [ProfileExtract(field: "firstName", value: "Zoë")])
            _ = try await service.gateway.call(
                StopSession(questionnaire: Self.key, sessionId: session), service.options(person))
            // The answer was acknowledged before the stop, so it reaches the profile.
            #expect(try await profile.call(request, service.options(nil)).extracts == extracts)
        }
    }

    @Test func nothingIsSavedWhileProfileDoesNotAnswer() async throws {
        try await ConditionalServiceTests.run(asking: Self.definition) { service in
            let session = try await open(service)
            service.judge.isOut = true
            let refusal = await #expect(throws: BusError.self) { try await put("name", "Zoë", in: session, service) }
            #expect(refusal?.code == "service_unavailable" && refusal?.retryAfterMs == 1000)
            let queue = PutAnswers(
                questionnaire: Self.key, sessionId: session,
                answers: [
                    QueuedAnswer(question: "plain", mutationId: .ordered(), state: .answered, value: "Hello"),
                    QueuedAnswer(question: "name", mutationId: .ordered(), state: .answered, value: "Zoë"),
                ])
            let options = service.options(person, key: "the client's own key")
            let again = await #expect(throws: BusError.self) { try await service.gateway.call(queue, options) }
            #expect(again?.code == "service_unavailable")
            #expect(try await service.rows("SELECT count(*) FROM answers") == "0")
            service.judge.isOut = false
            let saved = try await service.gateway.call(queue, options)
            #expect(saved.results.map(\.saved) == [true, true], "the queue may be sent again with the same key")
            #expect(try await service.changes.atLeast(1)[0].fields == ["firstName"])
        }
    }

    @Test func oneAnswerOfAQueueIsRefusedAndTheOthersAreSaved() async throws {
        try await ConditionalServiceTests.run(asking: Self.definition) { service in
            let session = try await open(service)
            service.judge.refusals = [
                "damn": RefusedAnswer(
                    index: 0, code: "validation_failed", detail: "Please use other words.", reason: "profanity")
            ]
            let saved = try await service.gateway.call(
                PutAnswers(
                    questionnaire: Self.key, sessionId: session,
                    answers: [
                        QueuedAnswer(question: "about", mutationId: .ordered(), state: .answered, value: "damn"),
                        QueuedAnswer(question: "name", mutationId: .ordered(), state: .answered, value: "Zoë"),
                    ]), service.options(person))
            #expect(saved.results.map(\.saved) == [false, true])
            let error = saved.results[0].error
            #expect(error?.reason == "profanity" && error?.detail == "Please use other words.")
            #expect(try await service.changes.atLeast(1)[0].fields == ["firstName"])
            #expect(service.judge.asked.count == 1, "one request for the whole queue")
        }
    }
}
