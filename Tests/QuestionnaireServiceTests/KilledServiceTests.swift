import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

/// The program is killed over and over while people answer. What was acknowledged is there, once.
@Suite("killed in the middle of autosaves") @Loop struct KilledServiceTests {
    private static let autosaves = Rounds.count(400, prove: 10_000)
    private static let people = 8
    private static let kills = 5

    @Test(arguments: 0..<Rounds.count(2, prove: 20))
    func noAcknowledgedAnswerIsLost(round: Int) async throws {
        try await ServiceStage.run(QuestionnaireServiceDefinition.definition, replicas: 0) { stage in
            try await Self.hold(on: stage)
        }
    }

    private static func hold(on stage: ServiceStage) async throws {
        let environment = stage.environment.merging(["LOG_LEVEL": "error"]) { $1 }
        var program = try ServiceProgram("QuestionnaireService", environment)
        let bus = try stage.asking(as: .gateway)
        try stage.answering(as: .profile, EventRecorder<SessionOpened>(), Listener())
        while try await stage.rows("SELECT count(*) FROM definitions")
            != String(QuestionnaireServiceDefinition.definitions.count)
        {
            try await Loop.sleep(for: .milliseconds(20))
        }
        let tally = Tally(killEvery: autosaves / (kills + 1)) {
            program.killAtOnce()
            program = try ServiceProgram("QuestionnaireService", environment)
        }
        let tasks = (0..<people).map { _ in
            Loop.spawn { try await answer(autosaves / people, over: bus, tally) }
        }
        for task in tasks { try await task.value }
        #expect(tally.killed >= kills - 1)
        try await check(tally, on: stage)
    }

    /// One write after the other; each is repeated until it is acknowledged. Each person makes 50, because a question's
    /// history is only sure to keep the last 32.
    private static func answer(_ count: Int, over bus: Bus, _ tally: Tally) async throws {
        for start in stride(from: 0, to: count, by: 50) {
            let person = Actor(userID: .random(), sessionID: .ordered(), role: .user)
            func options() -> CallOptions { CallOptions(timeout: .seconds(5), actor: person) }
            let session = try await untilAnswered {
                try await bus.call(OpenSession(questionnaire: "yoked-compat"), options()).id
            }
            for number in start..<min(start + 50, count) {
                let question = ["sharedDecisions", "socialEnergy"][number % 2]
                let write = PutAnswer(
                    questionnaire: "yoked-compat", sessionId: session, question: question, mutationId: .ordered(),
                    state: .answered, value: .integer(Int64(1 + number / 2 % 5)))
                let saved = try await untilAnswered { try await bus.call(write, options()) }
                try tally.note(.init(session: session, write: write, revision: saved.revision))
            }
        }
    }

    /// What did not come through is sent again, the same as before.
    private static func untilAnswered<Value: Sendable>(
        _ body: @Loop () async throws -> Value
    ) async throws -> Value {
        while true {
            do {
                return try await body()
            } catch let error as any BusErrorConvertible
                where ["service_unavailable", "overloaded", "deadline_exceeded"].contains(error.busError.code)
            {
                try await Loop.sleep(for: .milliseconds(20))
            }
        }
    }

    private static func check(_ tally: Tally, on stage: ServiceStage) async throws {
        let rows = try await stage.rows("SELECT session_id, question, revision, value FROM answer_history")
        let history = rows.split(separator: "\n").map(String.init)
        #expect(Set(history).count == history.count)
        let there = Set(history)
        for acknowledged in tally.acknowledged where acknowledged.changed {
            let value = acknowledged.write.value?.integerValue ?? 0
            let row = "\(acknowledged.session)|\(acknowledged.write.question)|\(acknowledged.revision)|\(value)"
            #expect(there.contains(row), "an acknowledged answer is lost")
        }
        #expect(tally.acknowledged.count == autosaves / people * people)
        let mutations = try await stage.rows("SELECT count(*), count(DISTINCT mutation_id) FROM mutations")
        #expect(mutations == "\(tally.acknowledged.count)|\(tally.acknowledged.count)")
        let torn = try await stage.rows(
            """
            SELECT count(*) FROM answers a WHERE NOT EXISTS (
                SELECT 1 FROM answer_history h WHERE (h.session_id, h.question, h.revision, h.value)
                    = (a.session_id, a.question, a.revision, a.value))
                OR a.revision <> (SELECT count(*) FROM answer_history h
                    WHERE (h.session_id, h.question) = (a.session_id, a.question))
            """)
        #expect(torn == "0", "every revision is in the history, once")
    }
}

/// What was acknowledged, and a kill after every so many.
@Loop private final class Tally {
    struct Acknowledged {
        let session: Identifier
        let write: PutAnswer
        let revision: Int64
        /// The value is another one than before, so that it has a revision of its own.
        var changed: Bool { revision > 0 }
    }

    private(set) var acknowledged: [Acknowledged] = []
    private(set) var killed = 0
    private let killEvery: Int
    private let kill: @Loop () throws -> Void

    init(killEvery: Int, kill: @escaping @Loop () throws -> Void) { (self.killEvery, self.kill) = (killEvery, kill) }

    func note(_ one: Acknowledged) throws {
        acknowledged.append(one)
        guard acknowledged.count % killEvery == 0 else { return }
        killed += 1
        try kill()
    }
}
