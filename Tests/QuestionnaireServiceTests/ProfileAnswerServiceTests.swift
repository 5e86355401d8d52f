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
            service.judge.failure = BusError(.serviceUnavailable, "Not now.")
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
            service.judge.failure = nil
            let saved = try await service.gateway.call(queue, options)
            #expect(saved.results.map(\.saved) == [true, true], "the queue may be sent again with the same key")
            #expect(try await service.changes.atLeast(1)[0].fields == ["firstName"])
        }
    }

    @Test func aPermanentFailureOfTheJudgeHasNoRetryAfter() async throws {
        try await ConditionalServiceTests.run(asking: Self.definition) { service in
            let session = try await open(service)
            service.judge.failure = BusError(.internalError, "Something went wrong on our side.")
            let refusal = await #expect(throws: BusError.self) { try await put("name", "Zoë", in: session, service) }
            #expect(refusal?.code == "internal_error" && refusal?.retryAfterMs == nil)
            #expect(try await service.rows("SELECT count(*) FROM answers") == "0")
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

    private static func refusal(_ value: JSONValue) -> [JSONValue: RefusedAnswer] {
        [
            value: RefusedAnswer(
                index: 0, code: "validation_failed", detail: "Please use other words.", reason: "profanity")
        ]
    }

    private func view(_ session: Identifier, _ service: RunningService) async throws -> SessionView {
        try await service.gateway.call(
            GetSession(questionnaire: Self.key, sessionId: session), service.options(person))
    }

    /// The person shows an old answer again that profile refuses now. They are asked again, and told why.
    @Test func aRefusedAnswerShownAgainIsAskedAgain() async throws {
        let definition = Sample.definition([
            Sample.question("isShy", "boolean"),
            Sample.question(
                "about", "text",
                ["extract": ["profileField": "bio"], "visibleIf": ["==": [["var": "isShy"], false]]]),
        ]).setting("version", to: 4)
        try await ConditionalServiceTests.run(asking: definition) { service in
            let session = try await open(service)
            _ = try await put("isShy", false, in: session, service)
            _ = try await put("about", "damn", in: session, service)
            _ = try await put("isShy", true, in: session, service)
            service.judge.refusals = Self.refusal("damn")
            let (told, mutation) = (service.changes.heard.count, Identifier.ordered())
            let shown = try await put("isShy", false, in: session, mutation: mutation, service)
            #expect(shown.shown == ["about"] && shown.stale == ["about"])
            #expect(shown.next?.question == "about" && shown.next?.reason == "stale")
            #expect(try await put("isShy", false, in: session, mutation: mutation, service) == shown, "a repetition")
            let view = try await view(session, service)
            #expect(view.answers.first { $0.question == "about" }?.stale == true && view.progress.answered == 1)
            let refused = await #expect(throws: BusError.self) {
                try await put("about", "damn", in: session, service)
            }
            #expect(refused?.errors?.first?.message == "Please use other words.")
            let incomplete = await #expect(throws: BusError.self) {
                try await service.gateway.call(
                    CompleteSession(questionnaire: Self.key, sessionId: session), service.options(person))
            }
            #expect(incomplete?.code == "questionnaire_incomplete")
            #expect(service.changes.heard.count == told, "profile is told nothing")
            _ = try await put("about", "Hello", in: session, service)
            #expect(try await service.changes.atLeast(told + 1)[told].fields == ["bio"])
        }
    }

    /// Another question of the field counts in version 5.
    private static let next = Sample.definition([
        Sample.question("name", "text"), Sample.question("about", "text", ["extract": ["profileField": "firstName"]]),
        Sample.question("plain", "text"),
    ]).setting("version", to: 5)

    private func extracts(_ session: Identifier, _ service: RunningService) async throws -> [ProfileExtract] {
        let request = GetExtracts(
            personID: person, sessionID: session, questionnaire: Self.key, fields: ["bio", "firstName"])
        return try await service.stage.asking(as: .profile).call(request, service.options(nil)).extracts
    }

    @Test(arguments: [true, false]) func aMoveToAnotherVersionReachesTheProfile(byOperator: Bool) async throws {
        try await ConditionalServiceTests.run(asking: Self.definition) { service in
            let session = try await open(service)
            _ = try await put("name", "Zoë", in: session, service)
            _ = try await put("about", "Zo", in: session, service)
            try await service.publish(Self.next)
            let move = MigrateSession(questionnaire: Self.key, sessionId: session)
            let told = try await service.changes.atLeast(2).count
            service.judge.refusals = Self.refusal("Zo")
            var dry = move
            dry.dryRun = "true"
            #expect(try await service.gateway.call(dry, service.options(person)).stale == ["about"])
            service.judge.refusals = [:]
            #expect(try await service.gateway.call(dry, service.options(person)).stale == [])
            if byOperator {
                let operators = try service.stage.asking(as: .operator)
                let moved = try await operators.call(
                    MigrateSessions(questionnaire: Self.key, limit: 10, dryRun: false),
                    CallOptions(timeout: .seconds(10)))
                #expect(moved.sessions == 1)
            } else {
                #expect(try await service.gateway.call(move, service.options(person)).kept == ["about", "name"])
            }
            let moved = try await service.changes.atLeast(told + 1)
            #expect(moved.count == told + 1 && moved[told].fields == ["firstName"])
            #expect(try await extracts(session, service) == [ProfileExtract(field: "firstName", value: "Zo")])

            _ = try await service.gateway.call(
                UndoMigration(questionnaire: Self.key, sessionId: session), service.options(person))
            let back = try await service.changes.atLeast(told + 2)
            #expect(back.count == told + 2 && back[told + 1].fields == ["bio", "firstName"])
            #expect(
                try await extracts(session, service) == [
                    ProfileExtract(field: "bio", value: "Zo"), ProfileExtract(field: "firstName", value: "Zoë"),
                ])
        }
    }

    /// The rest of a batch moves, and a second run moves the session that profile could not judge.
    @Test func aShortProfileOutageLeavesOneSessionUnmoved() async throws {
        try await ConditionalServiceTests.run(asking: Self.definition) { service in
            let people = [person, .random(), .random()]
            for person in people {
                let session = try await service.gateway.call(
                    OpenSession(questionnaire: Self.key), service.options(person))
                let answer = PutAnswer(
                    questionnaire: Self.key, sessionId: session.id, question: "about", mutationId: .ordered(),
                    state: .answered, value: "Zo")
                _ = try await patiently { try await service.gateway.call(answer, service.options(person)) }
            }
            try await service.publish(Self.next)
            let judged = service.judge.asked.count
            (service.judge.failure, service.judge.failing) = (BusError(.serviceUnavailable, "Not now."), people[1])
            let operators = try service.stage.asking(as: .operator)
            let all = MigrateSessions(questionnaire: Self.key, limit: 10)
            let first = try await operators.call(all, CallOptions(timeout: .seconds(10)))
            #expect(first.sessions == 2 && first.notMoved?.map(\.code) == ["service_unavailable"])
            let left = "SELECT session_id FROM sessions WHERE version = 4"
            #expect(try await service.rows(left) == first.notMoved?.first?.sessionID.description)
            service.judge.failure = nil
            let second = try await operators.call(all, CallOptions(timeout: .seconds(10)))
            #expect(second.sessions == 1 && second.notMoved == [] && second.remaining == 0)
            let asked = service.judge.asked.dropFirst(judged)
            #expect(asked.count >= 4 && asked.allSatisfy { $0.app == nil && $0.appUnknown == true })
            let told = try await service.changes.atLeast(6).suffix(3)
            #expect(told.allSatisfy { $0.app == nil && $0.appUnknown == true }, "the app is unknown to an operator")
        }
    }

    /// The answers are larger than most messages may be: one for each field of a profile, each of the longest length.
    @Test func aMoveMayAskProfileAboutManyLongAnswers() async throws {
        let names = (0..<20).map { "long\($0)" }
        let long = JSONValue.string(String(repeating: "x", count: 4096))
        func definition(_ version: Int64, _ members: (String) -> JSONValue) -> JSONValue {
            Sample.definition(names.map { Sample.question($0, "text", members($0)) })
                .setting("version", to: .integer(version))
        }
        try await ConditionalServiceTests.run(asking: definition(4) { _ in [:] }) { service in
            let session = try await open(service)
            for name in names { _ = try await put(name, long, in: session, service) }
            try await service.publish(definition(5) { ["extract": ["profileField": .string($0)]] })
            let move = MigrateSession(questionnaire: Self.key, sessionId: session)
            #expect(try await service.gateway.call(move, service.options(person)).kept.count == 20)
            #expect(service.judge.asked.map(\.answers.count) == [20])
        }
    }

    @Test func anAnswerRefusedAfterAMoveIsAskedAgain() async throws {
        try await ConditionalServiceTests.run(asking: Self.definition) { service in
            let session = try await open(service)
            _ = try await put("name", "Zoë", in: session, service)
            _ = try await put("about", "Zo", in: session, service)
            try await service.publish(Self.next)
            service.judge.refusals = Self.refusal("Zo")
            let told = try await service.changes.atLeast(2).count
            let moved = try await service.gateway.call(
                MigrateSession(questionnaire: Self.key, sessionId: session), service.options(person))
            #expect(moved.stale == ["about"] && moved.kept == ["name"])
            #expect(try await service.rows("SELECT question FROM answers WHERE is_stale") == "about")
            #expect(try await view(session, service).next?.reason == "stale")
            service.judge.refusals = Self.refusal("Zoë")
            let back = try await service.gateway.call(
                UndoMigration(questionnaire: Self.key, sessionId: session), service.options(person))
            #expect(back.answers.filter { $0.stale == true }.map(\.question) == ["name"])
            #expect(try await service.changes.atLeast(told + 1)[told].fields == ["bio"])
        }
    }

    @Test func anAnswerShownByANewSubjectReachesTheProfile() async throws {
        let definition = Sample.definition(sections: [
            Sample.children(0...3, [Sample.question("rash", "text")]),
            Sample.section(
                "last",
                [
                    Sample.question(
                        "about", "text",
                        [
                            "extract": ["profileField": "bio"],
                            "visibleIf": [">=": [["subjects": ["count": "child"]], 1]],
                        ])
                ]),
        ]).setting("version", to: 4)
        try await ConditionalServiceTests.run(asking: definition) { service in
            let session = try await open(service)
            _ = try await put("about", "Hello", in: session, service)
            let child = PutSubject(questionnaire: Self.key, sessionId: session, subject: .ordered(), label: "Alva")
            let told = service.changes.heard.count
            service.judge.refusals = Self.refusal("Hello")
            let refused = try await service.gateway.call(child, service.options(person))
            #expect(refused.next?.question == "rash" && service.changes.heard.count == told)
            #expect(try await service.rows("SELECT question FROM answers WHERE is_stale") == "about")
            service.judge.refusals = [:]
            _ = try await put("about", "Hello", in: session, service)
            #expect(try await service.changes.atLeast(told + 1)[told].fields == ["bio"])
            _ = try await service.gateway.call(
                RemoveSubject(questionnaire: Self.key, sessionId: session, subject: child.subject),
                service.options(person))
            #expect(service.changes.heard.count == told + 1, "what the profile has stays there")
            _ = try await service.gateway.call(child, service.options(person))
            #expect(try await service.changes.atLeast(told + 2)[told + 1].fields == ["bio"])
        }
    }
}
