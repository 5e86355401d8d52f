import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import ServiceRuntime
import TestSupport
import Testing

@testable import ProfileService

/// An administrator who edits plans and the library of fields.
@Loop struct PlanEditor {
    let profile: ProfileStage
    let admin = Actor(userID: .random(), sessionID: .ordered(), role: .admin)

    /// Questionnaires stand beside the profile.
    init(_ profile: ProfileStage) async throws {
        self.profile = profile
        try profile.stage.answering(as: .questionnaire, Questionnaires())
        try await profile.stage.untilFound(.questionnaire)
    }

    init(alone profile: ProfileStage) { self.profile = profile }

    func ask<Request: BusRequest>(_ request: Request) async throws -> Request.Reply {
        let key = Request.rules.effect == .once ? "editor-\(Identifier.random())" : nil
        return try await profile.gateway.call(
            request, CallOptions(timeout: .seconds(10), actor: admin, idempotencyKey: key))
    }

    func draft(_ plan: JSONValue, of key: String) async throws -> String {
        String(try await ask(CreatePlanDraft(key: key, plan: plan)).number)
    }

    func refusal(of request: some BusRequest) async throws -> BusError {
        try #require(await #expect(throws: BusError.self) { try await ask(request) })
    }

    /// The code of the refusal; `nil` if there was none.
    func code<Value: Sendable>(_ body: @Loop () async throws -> Value) async -> String? {
        do {
            _ = try await body()
            return nil
        } catch { return (error as? BusError)?.code }
    }

    /// How a person signs in to an app, as auth asks it.
    func rules(of app: String) async throws -> SignInRules {
        try await profile.stage.asking(as: .auth).call(GetSignInRules(app: app), CallOptions(timeout: .seconds(10)))
    }
}

/// Lists the questionnaires of this release.
private struct Questionnaires: RequestHandler {
    func handle(_ request: ListQuestionnaires, context: RequestContext) async throws -> QuestionnaireList {
        QuestionnaireList(
            questionnaires: ["eko-family", "realsingles-profile", "skin-care", "yoked-compat"].map {
                QuestionnaireReference(key: $0, version: 1, hash: String(repeating: "0", count: 64), title: $0)
            })
    }
}
