import BusProtocol
import BusRuntime
import EventLoop
import Foundation
import JSONText
import ServiceRuntime
import TestSupport
import Testing

@testable import QuestionnaireService

/// The service as it is, with a gateway that asks it and a profile service that listens.
@Loop struct RunningService {
    let stage: ServiceStage
    let gateway: Bus
    let listener = Listener()
    let profile = ProfileStandIn()
    let judge = JudgeStandIn()
    let changes = EventRecorder<ProfileAnswersChanged>()

    var containers: [ServiceContainer] { stage.containers }
    /// The sessions as the first replica reads and writes them.
    var sessions: QuestionnaireSessionStore {
        QuestionnaireSessionStore(database: containers[0].database, sealer: AnswerSealer(containers[0].keys))
    }

    fileprivate init(_ stage: ServiceStage) async throws {
        self.stage = stage
        gateway = try stage.asking(as: .gateway)
        try stage.answering(as: .profile, EventRecorder<SessionOpened>(), listener, profile, judge, changes)
        while try await stage.rows("SELECT count(*) FROM definitions")
            != String(QuestionnaireServiceDefinition.definitions.count)
        {
            try await Loop.sleep(for: .milliseconds(10))
        }
    }

    /// Publishes a definition as the newest version of its questionnaire.
    func publish(_ json: JSONValue) async throws {
        let definition = try DefinitionParserTests.parse(json)
        let shipped = DefinitionImport(database: containers[0].database, definition: definition)
        #expect(try await patiently { try await shipped.run() } == .published)
    }

    func questions(as person: Identifier) async throws -> QuestionsView {
        try await gateway.call(GetQuestions(), options(person))
    }

    @discardableResult
    func submit(
        _ answers: [ResponseItem], session: Identifier? = nil, complete: Bool? = nil, as person: Identifier,
        key: String? = "gw 1"
    ) async throws -> ResponsesSubmitted {
        try await gateway.call(
            SubmitResponses(sessionId: session, answers: answers, complete: complete), options(person, key: key))
    }

    func options(_ person: Identifier?, key: String? = nil) -> CallOptions {
        CallOptions(
            timeout: .seconds(10), actor: person.map { Actor(userID: $0, sessionID: .ordered(), role: .user) },
            idempotencyKey: key)
    }

    /// What a test finds in the tables, as `psql` prints it.
    func rows(_ sql: String) async throws -> String { try await stage.rows(sql) }
}

/// Runs a test against the service and stops it afterwards, even if the test throws.
func withService(
    replicas: Int = 1, environment: [String: String] = [:],
    _ body: @escaping @Loop @Sendable (RunningService) async throws -> Void
) async throws {
    try await ServiceStage.run(
        QuestionnaireServiceDefinition.definition, replicas: replicas, environment: environment
    ) { stage in
        try await body(try await RunningService(stage))
    }
}

/// Tells facts in place of profile.
@Loop final class ProfileStandIn: RequestHandler {
    var facts: [String: JSONValue] = [:]
    /// It answers nobody.
    var isOut = false
    private(set) var asked: [GetFacts] = []

    func handle(_ request: GetFacts, context: RequestContext) async throws -> ProfileFacts {
        asked.append(request)
        if isOut { throw BusError(.serviceUnavailable, "Not now.") }
        return ProfileFacts(facts: facts.filter { request.fields.contains($0.key) })
    }
}

/// Judges answers in place of profile.
@Loop final class JudgeStandIn: RequestHandler {
    /// Why an answer is refused, by its value; the position is filled in.
    var refusals: [JSONValue: RefusedAnswer] = [:]
    /// What it answers everybody instead of a verdict.
    var failure: BusError?
    /// Whom alone it answers so; `nil` stands for everybody.
    var failing: Identifier?
    private(set) var asked: [JudgeAnswers] = []

    func handle(_ request: JudgeAnswers, context: RequestContext) async throws -> AnswersJudged {
        asked.append(request)
        if let failure, failing == nil || failing == request.personID { throw failure }
        let refused = request.answers.enumerated().compactMap { index, answer in
            refusals[answer.value].map { refusal in
                var refusal = refusal
                refusal.index = Int64(index)
                return refusal
            }
        }
        return AnswersJudged(refused: refused, judgedAt: .now())
    }
}

/// Takes in the events that profile is told.
@Loop final class Listener: RequestHandler {
    private(set) var heard: [SessionCompleted] = []
    /// How long it works on an event.
    var delay: Duration?
    private var waiting: [LoopPromise<Void>] = []

    func handle(_ request: SessionCompleted, context: RequestContext) async throws -> Acknowledged {
        if let delay { try await Loop.sleep(for: delay) }
        heard.append(request)
        for promise in waiting { promise.resolve(.success(())) }
        waiting = []
        return Acknowledged()
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
