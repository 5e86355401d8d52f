import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import Foundation
import JSONText
import TestSupport
import Testing

@testable import AuthService

/// What gateways know of access tokens.
@Loop final class TokenBook {
    var bySession: [Identifier: String] = [:]
    nonisolated init() {}
}

/// The service as it is, with a gateway and recovery that ask it; codes are read from the spool.
@Loop struct AuthStage {
    let stage: ServiceStage
    let gateway: Bus
    let spool: Spool
    let rules: SignInRulesOfTests
    let onboarding: OnboardingOfTests
    /// The access tokens of those who act, by their sessions.
    private let tokens = TokenBook()

    nonisolated static func run(
        replicas: Int = 1, environment: [String: String] = [:],
        _ body: @escaping @Loop @Sendable (AuthStage) async throws -> Void
    ) async throws {
        let spool = try Spool()
        defer { spool.remove() }
        let variables = environment.merging(["SPOOL_DIR": spool.folder]) { $1 }
        try await ServiceStage.run(AuthServiceDefinition.definition, replicas: replicas, environment: variables) {
            stage in
            let rules = SignInRulesOfTests()
            // A sign-in waits for profile's word for as long as 300 ms.
            let onboarding = OnboardingOfTests()
            try stage.answering(
                as: .profile, onboarding, rules, EventRecorder<AccountCreated>(), EventRecorder<AccountDeleted>(),
                EventRecorder<AccountStatusChanged>())
            let auth = AuthStage(
                stage: stage, gateway: try stage.asking(as: .gateway), spool: spool, rules: rules,
                onboarding: onboarding)
            try await stage.untilReady()
            try await body(auth)
        }
    }

    /// Everybody is new to profile.
    @Loop final class OnboardingOfTests: RequestHandler {
        private(set) var asked: [GetOnboarding] = []

        func handle(_ request: GetOnboarding, context: RequestContext) async throws -> OnboardingState {
            asked.append(request)
            return OnboardingState(onboardingStatus: "questionnaire_pending")
        }
    }

    nonisolated static let home = "192.0.2.7"

    func options(_ actor: Actor? = nil, key: String? = nil, at address: String = home) -> CallOptions {
        var options = CallOptions(timeout: .seconds(10), actor: actor, clientAddress: address, idempotencyKey: key)
        options.accessToken = actor.flatMap { tokens.bySession[$0.sessionID] }
        return options
    }

    /// Asks as a client does, which tries again where a lock was held for too long.
    func ask<Request: BusRequest>(
        _ request: Request, as actor: Actor? = nil, key: String? = nil, at address: String = home,
        in language: String? = nil
    ) async throws -> Request.Reply {
        var options = options(actor, key: key, at: address)
        options.language = language
        return try await patiently { [options] in try await gateway.call(request, options) }
    }

    /// The refusal of a request. The message must declare its code, with its status.
    func refusal<Request: BusRequest>(
        of request: Request, as actor: Actor? = nil, from caller: ServiceName = .gateway, at address: String = home
    ) async throws -> BusError {
        let bus = try stage.asking(as: caller)
        let error = try #require(
            await #expect(throws: BusError.self) { try await bus.call(request, options(actor, at: address)) })
        let declared = Request.rules.errors.first { $0.name == error.code }
        #expect(declared?.status == error.status, "\(error.code) is not declared")
        return error
    }

    /// Sends a code to a phone and reads it from the spool.
    func code(
        for phone: String, purpose: String? = nil, by device: SendOTP.Proof? = nil, at address: String = home
    ) async throws -> (challenge: Identifier, code: String) {
        let sent = try await sms(SendOTP(phone: phone, device: device, purpose: purpose), at: address)
        return (sent.challenge, sent.code)
    }

    /// Asks for a code, and reads the SMS that brings it.
    func sms(
        _ request: SendOTP, at address: String = home, in language: String? = nil
    ) async throws -> (challenge: Identifier, code: String, text: String) {
        let known = spool.codes(for: request.phone).count
        let sent = try await ask(request, at: address, in: language)
        let code = try await spool.code(for: request.phone, after: known)
        let texts = spool.messages().filter { $0["to"]?.stringValue == request.phone }
        return (sent.challengeId, code, texts.last?["body"]?.stringValue ?? "")
    }

    /// Sends a code to an email address and reads it from the spool.
    func email(
        _ request: SendEmailCode, as actor: Actor? = nil, at address: String = home
    ) async throws -> (challenge: Identifier, code: String) {
        let known = spool.codes(for: request.email).count
        let sent = try await ask(request, as: actor, at: address)
        return (sent.challengeId, try await spool.code(for: request.email, after: known))
    }

    func signIn(byEmail email: String, on device: DeviceClaim = Self.device) async throws -> Session {
        let (challenge, code) = try await self.email(SendEmailCode(email: email))
        return try await session(
            VerifyEmailCode(challengeId: challenge, code: code, device: device, app: SignInRulesOfTests.free))
    }

    /// The session that a code by email opens.
    func session(_ request: VerifyEmailCode) async throws -> Session {
        guard case .session(let session) = try await ask(request) else {
            throw BusError(.internalError, "A phone is wanted.")
        }
        return session
    }

    /// Whether somebody comes to wait for a lock of this transaction, which is open.
    func isWaited(for transaction: Transaction) async throws -> Bool {
        let me = try await transaction.query("SELECT pg_backend_pid() AS pid").first?.integer("pid") ?? 0
        return try await eventually {
            try await stage.rows(
                "SELECT count(*) > 0 FROM pg_stat_activity WHERE \(me) = ANY(pg_blocking_pids(pid))") == "t"
        }
    }

    /// Moves the time at which all challenges were sent back by the interval. Their codes expire as before.
    func age(_ interval: String) async throws {
        try await stage.rows("UPDATE challenges SET created_at = created_at - interval '\(interval)'")
    }

    /// Ends every hold, as auth counts it.
    func endHolds() async throws { try await stage.rows("UPDATE freezes SET hold_until = now()") }

    func signIn(_ phone: String, on device: DeviceClaim = Self.device) async throws -> Session {
        let (challenge, code) = try await code(for: phone)
        return try await ask(VerifyOTP(challengeId: challenge, code: code, device: device))
    }

    /// Another code for a phone that got one a moment ago.
    func code(again phone: String) async throws -> (challenge: Identifier, code: String) {
        try await age("2 minutes")
        return try await code(for: phone)
    }

    /// A sign-in on a new device that takes pushes, however short after another one.
    func signIn(
        _ phone: String, push token: String, platform: String = "android", in language: String? = nil
    ) async throws -> Session {
        let (challenge, code) = try await code(again: phone)
        let device = DeviceClaim(name: "Pixel 9", platform: platform, pushToken: token)
        return try await ask(VerifyOTP(challengeId: challenge, code: code, device: device), in: language)
    }

    func actor(_ session: Session) -> Actor {
        tokens.bySession[session.sessionId] = session.accessToken
        return Actor(
            userID: session.user.id, sessionID: session.sessionId, role: .user, app: Self.app(of: session.accessToken))
    }

    /// The claim `app` of an access token, which a gateway passes on.
    private static func app(of token: String) -> String? {
        let claims = token.split(separator: ".").dropFirst().first.flatMap { Base64URL.decode(String($0)) }
        return claims.flatMap { try? JSONValue.parse($0)["app"]?.stringValue }
    }

    /// Takes the event in that recovery tells.
    func notify(_ session: Session, _ kind: String, sequence: Int64) async throws {
        let event = NotifyPerson(
            notificationID: .ordered(), personID: session.user.id, personSequence: sequence, kind: kind,
            data: ["disputeToken": "dt_0123456789"])
        _ = try await stage.asking(as: .recovery).call(event, options())
    }

    /// A code that is not the one given.
    nonisolated static func wrong(_ code: String) -> String { code == "000000" ? "000001" : "000000" }

    nonisolated static let device = DeviceClaim(name: "Pixel 9", platform: "android")
}
