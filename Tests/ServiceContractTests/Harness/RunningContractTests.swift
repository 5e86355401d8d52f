import BusProtocol
import BusRuntime
import EventLoop
import Foundation
import JSONText
import ServiceRuntime
import TestSupport
import Testing

@testable import AuthService
@testable import ProfileService
@testable import RecoveryService

/// What holds for every message type of a service that runs: who is answered, and with what.
@Suite("answers") struct RunningContractTests {
    /// Stands in for auth: no code is right.
    private struct NoCode: RequestHandler {
        func handle(_ request: BeginRecovery, context: RequestContext) async throws -> RecoveryBegun {
            throw Sample.otpExpired
        }
    }

    @Test func auth() async throws {
        let spool = FileManager.default.temporaryDirectory.appending(path: "spool-\(UUID())").path
        try FileManager.default.createDirectory(atPath: spool, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: spool) }
        try await ServiceStage.run(AuthBlueprint.blueprint, environment: ["SPOOL_DIR": spool]) { stage in
            while try await stage.rows("SELECT count(*) FROM signing_keys") == "0" {
                try await Loop.sleep(for: .milliseconds(10))
            }
            try await Self.hold(stage)
        }
    }

    @Test func profile() async throws {
        try await ServiceStage.run(ProfileBlueprint.blueprint) { try await Self.hold($0) }
    }

    @Test func recovery() async throws {
        try await ServiceStage.run(RecoveryBlueprint.blueprint) { stage in
            try stage.answering(as: .auth, NoCode())
            try await Self.hold(stage)
        }
    }

    @Loop private static func hold(_ stage: ServiceStage) async throws {
        var held = 0
        for entry in AnyContract.all where try await hold(entry.contract, on: stage) { held += 1 }
        #expect(held >= 5)
    }

    /// False for a message that another service answers.
    @Loop private static func hold<C: MessageContract>(
        _ contract: C.Type, on stage: ServiceStage
    ) async throws -> Bool {
        guard C.Message.rules.service == stage.blueprint.name else { return false }
        for caller in QuestionnaireStage.everybody {
            guard C.Message.rules.callers.contains(caller) else {
                let error = await refusal(C.self, WireJSON.encode, of: C.canonical, as: caller, on: stage)
                #expect(error?.code == "caller_not_allowed" && error?.executed == .no, "\(C.folder) as \(caller)")
                continue
            }
            for sample in [C.minimal, C.canonical] { try await answers(C.self, sample, as: caller, on: stage) }
            let wrong = await refusal(C.self, { _ in Array("[]".utf8) }, of: C.canonical, as: caller, on: stage)
            #expect(wrong?.code == "invalid_message" && wrong?.executed == .no, "\(C.folder) as \(caller)")
        }
        return true
    }

    /// A body of a newer caller is answered as the message says, or refused with a code that it declares.
    @Loop private static func answers<C: MessageContract>(
        _ contract: C.Type, _ sample: C.Message, as caller: ServiceName, on stage: ServiceStage
    ) async throws {
        var members = try JSONValue.parse(try WireJSON.encode(sample)).objectValue ?? [:]
        members["xFromTheFuture"] = [1]
        do throws(BusError) {
            let reply = try await ask(C.self, CanonicalJSON.bytes(of: .object(members)), as: caller, on: stage)
            let problems = (try? JSONDocument(reply.body)).map { C.Message.Reply.schema.problems(in: $0.root) }
            #expect(problems == [], "\(C.folder) as \(caller)")
        } catch {
            let declared = C.Message.rules.errors.first { $0.name == error.code }
            #expect(declared?.status == error.status, "\(C.folder) as \(caller): \(error.code) is not declared")
        }
    }

    @Loop private static func refusal<C: MessageContract>(
        _ contract: C.Type, _ body: (C.Message) throws -> [UInt8], of sample: C.Message, as caller: ServiceName,
        on stage: ServiceStage
    ) async -> BusError? {
        await #expect(throws: BusError.self, "\(C.folder) as \(caller)") {
            try await ask(C.self, try body(sample), as: caller, on: stage)
        }
    }

    @Loop private static func ask<C: MessageContract>(
        _ contract: C.Type, _ body: [UInt8], as caller: ServiceName, on stage: ServiceStage
    ) async throws(BusError) -> RawReply {
        guard let bus = try? stage.asking(as: caller) else { throw BusError(.internalError, "There is no bus.") }
        return try await bus.callRaw(
            type: C.Message.type, version: C.Message.version, rules: C.Message.rules, body: body,
            CallOptions(
                timeout: .seconds(3), actor: Actor(userID: Sample.person, sessionID: Sample.session, role: "user"),
                clientAddress: "192.0.2.7"))
    }
}
