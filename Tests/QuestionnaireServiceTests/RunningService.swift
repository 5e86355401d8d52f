import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import Foundation
import ServiceRuntime
import TestSupport

@testable import QuestionnaireService

/// The service as it is, on a database of its own, with a gateway that asks it and a profile service that listens.
@Loop final class RunningService {
    let scratch: ScratchDatabase
    let folder: String
    let keys: String
    let gateway: Bus
    let profile: Bus
    let listener = Listener()
    private(set) var houses: [ServiceHouse] = []

    /// - Parameter replicas: houses that start together.
    init(replicas: Int = 1) async throws {
        scratch = try await ScratchDatabase.make(schema: "questionnaire", migrations: QuestionnaireBlueprint.migrations)
        folder = "/tmp/vq-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        keys = KeyRing.generate(id: "k")
        gateway = Bus(BusConfiguration(service: .gateway, peers: [.questionnaire: try Discovery("ipc:\(folder)")]))
        var own = BusConfiguration(service: .profile)
        own.bind = [try own.endpoint(inDirectory: folder)]
        profile = Bus(own)
        profile.register(listener.handler)
        for _ in 0..<replicas { houses.append(try house()) }
        for house in houses { try await house.start() }
        try profile.start()
        profile.state = .ready
        try gateway.start()
        while try await scratch.query("SELECT count(*) FROM definitions") == "0" {
            try await Loop.sleep(for: .milliseconds(10))
        }
    }

    func house() throws -> ServiceHouse {
        try ServiceHouse(
            QuestionnaireBlueprint.blueprint,
            environment: [
                "BUS_BIND": "ipc:\(folder)", "BUS_PROFILE": "ipc:\(folder)", "LOG_LEVEL": "error",
                "QUESTIONNAIRE_DATABASE_URL": scratch.runtime, "QUESTIONNAIRE_KEYS": keys,
            ])
    }

    func stop() async {
        for house in houses { await house.stop(notice: .zero) }
        await gateway.drain(notice: .zero)
        await profile.drain(notice: .zero)
        try? FileManager.default.removeItem(atPath: folder)
    }

    func questions(as person: Identifier) async throws -> QuestionsView {
        try await gateway.call(GetQuestions(), options(person))
    }

    @discardableResult
    func submit(
        _ answers: [ResponseItem], session: Identifier? = nil, complete: Bool? = nil, as person: Identifier,
        key: String? = "gw-1"
    ) async throws -> ResponsesSubmitted {
        try await gateway.call(
            SubmitResponses(sessionId: session, answers: answers, complete: complete), options(person, key: key))
    }

    func options(_ person: Identifier?, key: String? = nil) -> CallOptions {
        CallOptions(
            timeout: .seconds(10), actor: person.map { Actor(userID: $0, sessionID: .ordered(), role: "user") },
            idempotencyKey: key)
    }

    /// What a test finds in the tables, as `psql` prints it.
    func rows(_ sql: String) async throws -> String { try await scratch.query(sql) }
}

/// Runs a test against a service and takes the service down again, whatever comes of it.
@Loop func withService(replicas: Int = 1, _ body: @Loop (RunningService) async throws -> Void) async throws {
    let service = try await RunningService(replicas: replicas)
    do {
        try await body(service)
    } catch {
        await service.stop()
        throw error
    }
    await service.stop()
}

/// The results of the same thing done at the same time, many times.
@Loop func atOnce<Value: Sendable>(
    _ count: Int, _ body: @escaping @Sendable @Loop () async throws -> Value
) async throws -> [Value] {
    var values: [Value] = []
    for task in (0..<count).map({ _ in Loop.spawn { try await body() } }) { values.append(try await task.value) }
    return values
}

/// Takes in the events that profile is told.
@Loop final class Listener {
    private(set) var heard: [SessionCompleted] = []
    private var waiting: [LoopPromise<Void>] = []

    var handler: Handler { Handler(listener: self) }

    struct Handler: RequestHandler {
        let listener: Listener
        func handle(_ request: SessionCompleted, context: RequestContext) async throws -> Acknowledged {
            listener.hear(request)
            return Acknowledged()
        }
    }

    private func hear(_ event: SessionCompleted) {
        heard.append(event)
        for promise in waiting { promise.resolve(.success(())) }
        waiting = []
    }

    /// Returns when something was heard.
    func first() async throws -> SessionCompleted? {
        if heard.isEmpty {
            let promise = LoopPromise<Void>()
            waiting.append(promise)
            try await promise.get()
        }
        return heard.first
    }
}

/// A valid answer to each question of a definition, in order.
func anyAnswers(to questions: [QuestionView]) -> [ResponseItem] {
    questions.map { question in
        let keys = (question.options ?? []).map(\.key)
        return switch question.type {
        case "single_choice": ResponseItem(question: question.key, value: .string(keys[0]))
        case "multi_choice", "tags": ResponseItem(question: question.key, value: [.string(keys[0])])
        case "ranking":
            ResponseItem(
                question: question.key,
                value: .array(keys.prefix(Int(question.constraints.topK ?? Int64(keys.count))).map { .string($0) }))
        default: ResponseItem(question: question.key, value: .integer(Int64(question.constraints.min ?? 0)))
        }
    }
}
