import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import QuestionnaireService

/// The real questionnaire service in the states that its contracts are held against.
@Loop struct QuestionnaireStage {
    let stage: ServiceStage
    let person = Identifier.random()

    static let everybody: [ServiceName] = [.auth, .profile, .questionnaire, .recovery, .gateway, .operator]

    /// One answer to each required question of the definition that is shipped.
    static let required: [ResponseItem] = [
        ResponseItem(question: "relationshipGoal", value: "long_term"),
        ResponseItem(question: "coreValues", value: ["kindness", "family", "growth"]),
        ResponseItem(question: "familyPlans", state: .declined),
        ResponseItem(question: "sharedDecisions", value: 7),
        ResponseItem(question: "weekendRhythm", value: "outdoors"),
        ResponseItem(question: "socialEnergy", value: 4),
        ResponseItem(question: "smoking", value: "never"),
        ResponseItem(question: "conflictStyle", value: "talk_later"),
        ResponseItem(question: "keepingInTouch", value: 5),
        ResponseItem(question: "lovedBy", value: ["time", "touch", "words", "help", "gifts"]),
    ]

    nonisolated static func run(_ body: @escaping @Loop @Sendable (QuestionnaireStage) async throws -> Void)
        async throws
    {
        try await ServiceStage.run(QuestionnaireBlueprint.blueprint) { stage in
            while try await stage.rows("SELECT count(*) FROM definitions") == "0" {
                try await Loop.sleep(for: .milliseconds(10))
            }
            try await body(QuestionnaireStage(stage: stage))
        }
    }

    func options(signedIn: Bool = true, timeout: Duration = .seconds(10), key: String? = nil) -> CallOptions {
        CallOptions(
            timeout: timeout, actor: signedIn ? Actor(userID: person, sessionID: .ordered(), role: "user") : nil,
            idempotencyKey: key)
    }

    /// Asks as the gateway does, and holds the answer against the schema of the reply.
    func ask<Request: BusRequest>(
        _ request: Request, signedIn: Bool = true, key: String? = nil
    ) async throws -> Request.Reply {
        let reply = try await raw(Request.self, body: try WireJSON.encode(request), signedIn: signedIn, key: key)
        #expect(Request.Reply.schema.problems(in: try JSONDocument(reply.body).root) == [])
        return try WireJSON.decode(Request.Reply.self, from: reply.body)
    }

    func raw<Request: BusRequest>(
        _ type: Request.Type, body: [UInt8], signedIn: Bool = true, key: String? = nil,
        as caller: ServiceName = .gateway
    ) async throws -> RawReply {
        try await stage.asking(as: caller).callRaw(
            type: Request.type, version: Request.version, rules: Request.rules, body: body,
            options(signedIn: signedIn, key: key))
    }

    /// The refusal of a request: of a code that the message declares, with its status.
    func refusal<Request: BusRequest>(
        of request: Request, signedIn: Bool = true, key: String? = nil
    ) async throws -> BusError {
        let error = try #require(
            await #expect(throws: BusError.self) { try await ask(request, signedIn: signedIn, key: key) })
        let declared = Request.rules.errors.first { $0.name == error.code }
        #expect(declared?.status == error.status, "\(error.code) is not declared")
        return error
    }

    /// Nobody but the declared callers is answered, and nothing happens for the others.
    func refusesStrangers<Request: BusRequest>(_ request: Request) async throws {
        for caller in Self.everybody where !Request.rules.callers.contains(caller) {
            let error = await #expect(throws: BusError.self, "\(caller)") {
                try await raw(Request.self, body: try WireJSON.encode(request), as: caller)
            }
            #expect(error?.code == "caller_not_allowed" && error?.executed == .no, "\(caller)")
        }
        #expect(try await stage.rows("SELECT count(*) FROM sessions") == "0")
    }
}
