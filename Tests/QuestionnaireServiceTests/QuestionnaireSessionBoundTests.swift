import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

/// Sessions of one person who begins again and again.
@Suite("bound of questionnaire sessions") struct QuestionnaireSessionBoundTests {
    private static let questionnaire = "yoked-compat"
    private static let definition = Sample.definition([Sample.question("choice", "single_choice", ["required": true])])

    /// One person at the service.
    @Loop private struct Starter {
        let service: RunningService
        let person = Identifier.random()

        func ask<Request: BusRequest>(_ request: Request) async throws -> Request.Reply {
            try await patiently { try await service.gateway.call(request, service.options(person)) }
        }

        /// A new session with an answer.
        func open() async throws -> Identifier {
            let view = try await ask(OpenSession(questionnaire: questionnaire))
            #expect(view.isNew == true)
            try await service.submit([ResponseItem(question: "choice", value: "a")], session: view.id, as: person)
            return view.id
        }

        func stopped() async throws -> Identifier { try await stop(try await open()) }

        @discardableResult func stop(_ session: Identifier) async throws -> Identifier {
            try await ask(StopSession(questionnaire: questionnaire, sessionId: session)).id
        }

        func completed() async throws -> Identifier {
            try await ask(CompleteSession(questionnaire: questionnaire, sessionId: try await open())).id
        }

        func list() async throws -> [Identifier] {
            try await ask(ListQuestionnaireSessions(questionnaire: questionnaire)).sessions.map(\.id)
        }
    }

    @Loop private static func run(
        replicas: Int = 1, _ body: @escaping @Loop @Sendable (Starter) async throws -> Void
    ) async throws {
        try await withService(replicas: replicas) { service in
            try await service.publish(definition)
            try await body(Starter(service: service))
        }
    }

    @Test(arguments: [1, 2]) func theOldestStoppedSessionsMakeRoom(replicas: Int) async throws {
        try await Self.run(replicas: replicas) { starter in
            let other = Starter(service: starter.service)
            let others = try await other.stopped()
            let first = try await starter.completed()
            // This session was completed before it was stopped. So it is kept longer than sessions that never were.
            let amended = try await starter.completed()
            _ = try await starter.ask(ReopenSession(questionnaire: Self.questionnaire, sessionId: amended))
            try await starter.stop(amended)
            var stopped: [Identifier] = []
            for _ in 0..<17 { stopped.append(try await starter.stopped()) }
            #expect(try await starter.list() == stopped.suffix(14).reversed() + [amended, first])
            let rows = "SELECT count(DISTINCT session_id) FROM"
            for table in ["answers", "answer_history"] {
                #expect(try await starter.service.rows("\(rows) \(table)") == "17", "\(table), with the other's")
            }
            let gone = await #expect(throws: BusError.self) {
                try await starter.ask(GetSession(questionnaire: Self.questionnaire, sessionId: stopped[0]))
            }
            #expect(gone?.code == "not_found")
            #expect(try await other.list() == [others])
        }
    }

    @Test func withAllSessionsCompletedOneMustBeReopened() async throws {
        try await Self.run { starter in
            var all: [Identifier] = []
            for _ in 0..<OpenSession.most { all.append(try await starter.completed()) }
            let refusal = await #expect(throws: BusError.self) { try await starter.open() }
            #expect(refusal?.code == "too_many_sessions" && refusal?.detail.contains("16 times") == true)
            #expect(try await starter.list() == all.reversed(), "no result is lost")
            let shown = try await starter.service.questions(as: starter.person)
            #expect(shown.sessionId == all.last)

            // One of them can be changed, and one that is stopped makes room.
            let again = try await starter.ask(ReopenSession(questionnaire: Self.questionnaire, sessionId: all[7]))
            #expect(again.status == .inProgress)
            let open = try await starter.ask(OpenSession(questionnaire: Self.questionnaire))
            #expect(open.id == all[7] && open.isNew == false)
            try await starter.stop(all[7])
            let new = try await starter.open()
            #expect(try await starter.list() == [new] + all.filter { $0 != all[7] }.reversed())
        }
    }

    /// One device stops, the other opens: in either order, the other has a session.
    @Test func openingWhileAnotherDeviceStopsGivesASession() async throws {
        try await Self.run(replicas: 2) { starter in
            for _ in 0..<40 {
                let session = try await starter.ask(OpenSession(questionnaire: Self.questionnaire)).id
                async let stopped = starter.stop(session)
                async let opened = starter.ask(OpenSession(questionnaire: Self.questionnaire))
                #expect(try await stopped == session)
                #expect(try await [.inProgress, .stopped].contains(opened.status))
            }
            #expect(try await starter.list().count == Int(OpenSession.most))
        }
    }

    /// A person who stopped all sessions gets a new one, however many there were.
    @Test func withAllSessionsStoppedANewOneIsOpened() async throws {
        try await Self.run { starter in
            for _ in 0..<OpenSession.most {
                let session = try await starter.completed()
                _ = try await starter.ask(ReopenSession(questionnaire: Self.questionnaire, sessionId: session))
                try await starter.stop(session)
            }
            let shown = try await starter.service.questions(as: starter.person)
            #expect(shown.status == .inProgress)
            let list = try await starter.list()
            #expect(list.count == Int(OpenSession.most) && list.first == shown.sessionId)
        }
    }
}
