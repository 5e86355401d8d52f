import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

/// Answers that are saved at the same moment, over two replicas.
@Suite("autosaves at once") struct AutosaveRaceTests {
    private static let questionnaire = "yoked-compat"

    /// Each reply counts all answers saved before it, and no others.
    @Test func eachReplyCountsAllEarlierSaves() async throws {
        try await withService(replicas: 2) { service in
            let person = Identifier.random()
            let view = try await service.questions(as: person)
            let writes = anyAnswers(to: view.questions).map { Self.write($0, in: view.sessionId) }
            let tasks = writes.map { write in
                Loop.spawn { try await patiently { try await service.gateway.call(write, service.options(person)) } }
            }
            var replies: [AnswerSaved] = []
            for task in tasks { replies.append(try await task.value) }
            #expect(replies.map(\.progress.answered).sorted() == (1...Int64(writes.count)).map { $0 })
            #expect(replies.allSatisfy { ($0.next == nil) == ($0.progress.answered == $0.progress.total) })
            #expect(replies.allSatisfy { $0.revision == 1 })
            #expect(try await service.rows("SELECT count(*) FROM answer_history") == "\(writes.count)")
        }
    }

    @Test func concurrentCopiesOfAMutationAreAppliedOnce() async throws {
        try await withService(replicas: 2) { service in
            for _ in 0..<Rounds.count(5, prove: 100) {
                let person = Identifier.random()
                let session = try await service.questions(as: person).sessionId
                let write = Self.write(ResponseItem(question: "socialEnergy", value: 3), in: session)
                let tasks = (0..<16).map { _ in
                    Loop.spawn {
                        try await patiently { try await service.gateway.call(write, service.options(person)) }
                    }
                }
                var replies: [AnswerSaved] = []
                for task in tasks { replies.append(try await task.value) }
                #expect(replies.allSatisfy { $0 == replies[0] })
                let rows = try await service.rows(
                    "SELECT count(*), max(revision) FROM answer_history WHERE person_id = '\(person)'")
                #expect(rows == "1|1")
            }
        }
    }

    /// A request reads the session, and another request answers or completes it before the first one writes. Such a
    /// write is rejected: the reply to the other request, or its snapshot, would lack the answer.
    @Test(arguments: ["another answer", "completion", "the same answer"])
    func aStaleAutosaveIsRejected(_ meanwhile: String) async throws {
        try await withService { service in
            let person = Identifier.random()
            let view = try await service.questions(as: person)
            try await service.submit(anyAnswers(to: view.questions), as: person, key: "gw 1")
            let store = service.sessions
            let read = try #require(try await store.find(view.sessionId, of: person, for: Self.questionnaire))
            let item = ResponseItem(
                question: "socialEnergy", value: 4, state: .answered, mutationId: .ordered())
            let plan = try await Self.plan(item, on: read, of: person, service)

            switch meanwhile {
            case "completion": try await service.submit([], complete: true, as: person, key: "gw 2")
            case "another answer":
                try await service.submit(
                    [ResponseItem(question: "smoking", value: "regularly")], as: person, key: "gw 2")
            default:
                let other = Self.write(ResponseItem(question: item.question, value: 3), in: view.sessionId)
                _ = try await service.gateway.call(other, service.options(person))
            }
            let history = "SELECT * FROM answer_history ORDER BY question, revision"
            let before = try await service.rows(history)
            let definition = try DefinitionParser.parse(QuestionnaireServiceDefinition.definitions[0])
            #expect(
                try await !store.writeAtOnce(
                    plan, to: definition, of: person, session: read, reply: Array("{}".utf8)))
            #expect(try await service.rows(history) == before)

            // As it is now it is written upon, unless it is completed.
            let now = try #require(try await store.find(view.sessionId, of: person, for: Self.questionnaire))
            let again = try await Self.plan(item, on: now, of: person, service)
            let isWritten = try await store.writeAtOnce(
                again, to: definition, of: person, session: now, reply: Array("{}".utf8))
            #expect(isWritten == (meanwhile != "completion"))
        }
    }

    /// Answers without a session's ID go to the current session. While a request waits for the lock of that session,
    /// another one may be opened. The request must then lock the new session, or its write would not count as a change.
    @Test func aSessionOpenedDuringTheWaitIsUsed() async throws {
        try await withService { service in
            let person = Identifier.random()
            let view = try await service.questions(as: person)
            try await service.submit(anyAnswers(to: view.questions), complete: true, as: person)
            let store = service.sessions
            let (isHeld, release) = (LoopPromise<Void>(), LoopPromise<Void>())
            let holder = Loop.spawn {
                try await store.database.transaction { transaction in
                    _ = try await transaction.query("SELECT FROM sessions FOR UPDATE")
                    isHeld.resolve(.success(()))
                    try await release.get()
                }
            }
            try await isHeld.get()
            let taker = Loop.spawn {
                try await store.database.transaction { transaction in
                    transaction.send("SET LOCAL lock_timeout = '20s'")
                    return try await store.locked(nil, of: person, for: Self.questionnaire, in: transaction)
                }
            }
            let waits = """
                SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
                WHERE NOT granted AND datname = current_database()
                """
            try #require(try await eventually { try await service.rows(waits) != "0" })
            let opened = try await service.gateway.call(
                OpenSession(questionnaire: Self.questionnaire), service.options(person, key: "gw 2"))
            release.resolve(.success(()))
            try await holder.value
            let taken = try #require(try await taker.value)
            #expect(taken.id == opened.id)
            #expect(try await service.rows("SELECT revision FROM sessions WHERE session_id = '\(taken.id)'") == "1")
        }
    }

    @Loop private static func plan(
        _ item: ResponseItem, on session: StoredQuestionnaireSession, of person: Identifier, _ service: RunningService
    ) async throws -> ResponsePlan.Write {
        let definitions = PublishedDefinitions(database: service.containers[0].database, shipped: [])
        let hand = LoadedQuestionnaireSession(session, of: person, try await definitions.definition(session.hash))
        let plan = ResponsePlan.each([item], on: hand.sheet, mutations: [], now: session.now)
        return try #require(plan.writes.first)
    }

    private static func write(_ item: ResponseItem, in session: Identifier) -> PutAnswer {
        PutAnswer(
            questionnaire: questionnaire, sessionId: session, question: item.question, mutationId: .ordered(),
            state: .answered, value: item.value)
    }
}
