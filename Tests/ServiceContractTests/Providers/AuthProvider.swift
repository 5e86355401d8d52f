import BusProtocol
import BusRuntime
import EventLoop
import Foundation
import JSONText
import TestSupport
import Testing

@testable import AuthService

/// The real auth service, with stand-ins for the other services. Tests read codes from the spool.
@Loop final class AuthProvider: Provider {
    let stage: ServiceStage
    let spool: Spool
    /// Signs as Apple and Google, whose key set the key server publishes.
    let forge: IdentityForge
    private let keyServer: ProviderServer
    private var (phones, emails) = (0, 0)
    private var tokens: [Identifier: String] = [:]

    private init(_ stage: ServiceStage, _ spool: Spool, _ forge: IdentityForge, _ keyServer: ProviderServer) {
        (self.stage, self.spool) = (stage, spool)
        (self.forge, self.keyServer) = (forge, keyServer)
    }

    nonisolated static func run(_ body: @escaping @Loop @Sendable (AuthProvider) async throws -> Void) async throws {
        let spool = try Spool()
        defer { spool.remove() }
        let forge = IdentityForge()
        let keyServer = try await ProviderServer(
            .answers(status: 200, body: String(decoding: CanonicalJSON.bytes(of: forge.keySet), as: UTF8.self)))
        // All requests come from one address, for numbers with one prefix. So raise the limits for both.
        let environment = [
            "SPOOL_DIR": spool.folder, "AUTH_OTP_PER_ADDRESS_HOUR": "1000", "AUTH_OTP_PREFIX_BREAKER": "off",
            "AUTH_DORMANT_AFTER": "8760h",
        ].merging(IdentityForge.variables(keySet: await keyServer.url)) { $1 }
        try await ServiceStage.run(AuthServiceDefinition.definition, environment: environment) { stage in
            try stage.answering(
                as: .profile, NewPerson(), SignInRulesOfTests(), EventRecorder<AccountCreated>(),
                EventRecorder<AccountDeleted>(),
                EventRecorder<AccountStatusChanged>())
            for service in ServiceName.services where ![.auth, .profile, .recovery].contains(service) {
                try stage.answering(as: service, EventRecorder<AccountDeleted>())
            }
            try stage.answering(
                as: .recovery, EventRecorder<RecoveryBegan>(), EventRecorder<RecoveryApplied>(),
                EventRecorder<NotificationDelivered>(),
                EventRecorder<AccountDeleted>())
            try await stage.untilReady()
            try await body(AuthProvider(stage, spool, forge, keyServer))
        }
        await keyServer.stop()
    }

    private struct NewPerson: RequestHandler {
        func handle(_ request: GetOnboarding, context: RequestContext) async throws -> OnboardingState {
            OnboardingState(onboardingStatus: "questionnaire_pending")
        }
    }

    /// A phone that no test has used.
    func newPhone() -> String {
        phones += 1
        return "+14155552\(String(phones + 1000).suffix(3))"
    }

    /// An email address that no test has used.
    func newEmail() -> String {
        emails += 1
        return "anna\(emails)@example.com"
    }

    func key() -> String { "key-\(Identifier.random())" }

    /// Creates a challenge and returns it with its code.
    func challenge(
        for phone: String? = nil, purpose: String? = nil, linkToken: String? = nil
    ) async throws -> (phone: String, id: Identifier, code: String) {
        let phone = phone ?? newPhone()
        let known = spool.codes(for: phone).count
        let sent = try await reply(to: Asked(SendOTP(phone: phone, linkToken: linkToken, purpose: purpose), key: key()))
        return (phone, sent.challengeId, try await spool.code(for: phone, after: known))
    }

    /// Creates a challenge for an email address and returns it with its code.
    func emailChallenge(for email: String? = nil) async throws -> (email: String, id: Identifier, code: String) {
        let email = email ?? newEmail()
        let known = spool.codes(for: email).count
        let sent = try await reply(to: Asked(SendEmailCode(email: email), key: key()))
        return (email, sent.challengeId, try await spool.code(for: email, after: known))
    }

    /// A `link_email` challenge of a session, with its code.
    func linkingEmail(_ session: Session, _ email: String? = nil) async throws -> (id: Identifier, code: String) {
        let email = email ?? newEmail()
        let known = spool.codes(for: email).count
        let sent = try await reply(
            to: Asked(
                SendEmailCode(email: email, purpose: "link_email"), for: session.user.id, in: session.sessionId,
                key: key()))
        return (sent.challengeId, try await spool.code(for: email, after: known))
    }

    /// A person who has just signed in, on a device that receives push messages.
    func session(phone: String? = nil) async throws -> Session {
        let challenge = try await challenge(for: phone)
        let device = DeviceClaim(name: "Pixel 9", platform: "android", pushToken: "fcm:\(challenge.id)")
        return try await opened(VerifyOTP(challengeId: challenge.id, code: challenge.code, device: device))
    }

    private func opened(_ verify: VerifyOTP) async throws -> Session {
        let session = try await reply(to: Asked(verify, key: key()))
        tokens[session.sessionId] = session.accessToken
        return session
    }

    /// A member of staff who has just signed in.
    func staff() async throws -> Session {
        let phone = newPhone()
        let person = try await session(phone: phone).user.id
        let grant = ChangeRole(userID: person, role: .staff, isGranted: true, operatorName: "anna")
        try await reply(to: Asked(grant, as: .operator, key: key()))
        try await age("2 minutes")
        return try await session(phone: phone)
    }

    func accessToken(of actor: Actor) -> String? { tokens[actor.sessionID] }

    /// A new nonce for a provider.
    func nonce(of provider: String) async throws -> String {
        try await reply(to: Asked(IssueSocialNonce(provider: provider), key: key())).nonce
    }

    /// Replaces the replica with one that accepts neither Apple nor Google.
    func serveNoProvider() async throws {
        try await stage.replaceReplicas(without: ["AUTH_APPLE_AUDIENCES", "AUTH_GOOGLE_AUDIENCES"])
    }

    /// Replaces the replica with one that sends no emails.
    func serveNoEmail() async throws {
        try await stage.replaceReplicas(by: stage.environment.merging(["EMAIL_PROVIDER": "off"]) { $1 })
    }

    /// Replaces the replica by one that has no keys of Apple or Google and gets none.
    func loseProvidersKeys() async throws {
        keyServer.manner = .answers(status: 500, body: "")
        try await stage.replaceReplicas(without: [])
    }

    /// A token that links an identity which no account has yet.
    func linkToken(_ provider: String, subject: String) async throws -> String {
        let nonce = try await nonce(of: provider)
        let token = forge.token(provider, subject: subject, nonce: nonce)
        let answer =
            provider == "apple"
            ? try await reply(
                to: Asked(SignInWithApple(identityToken: token, nonce: nonce, device: Sample.phone), key: key()))
            : try await reply(
                to: Asked(SignInWithGoogle(identityToken: token, nonce: nonce, device: Sample.phone), key: key()))
        guard case .phoneVerificationRequired(let required) = answer else {
            throw BusError(.internalError, "The identity is linked already.")
        }
        return required.linkToken
    }

    /// A person who has just linked an identity.
    func linked(_ provider: String, subject: String, phone: String? = nil) async throws -> Session {
        let challenge = try await challenge(
            for: phone, linkToken: try await linkToken(provider, subject: subject))
        return try await opened(VerifyOTP(challengeId: challenge.id, code: challenge.code, device: Sample.phone))
    }

    /// Makes three messages fail, so that auth considers the SMS provider down. It removes their outbox items
    /// afterwards.
    func breakSMS() async throws {
        try await breakSpool { Asked(SendOTP(phone: self.newPhone()), key: self.key()) }
    }

    /// Does the same as ``breakSMS()`` for the email provider.
    func breakEmail() async throws {
        try await breakSpool { Asked(SendEmailCode(email: self.newEmail()), key: self.key()) }
    }

    private func breakSpool<Request: BusRequest>(_ asking: () -> Asked<Request>) async throws {
        try FileManager.default.removeItem(atPath: spool.folder)
        for _ in 0..<3 {
            do {
                _ = try await reply(to: asking())
            } catch let error as BusError where error.code.hasSuffix("_unavailable") {
                // If retries of the first messages have failed three times already, auth refuses the last one.
                break
            }
        }
        while try await stage.rows("SELECT coalesce(sum(attempts), 0) >= 3 FROM outbox") == "f" {
            try await Loop.sleep(for: .milliseconds(5))
        }
        try await stage.rows("DELETE FROM outbox")
    }

    /// Acts as if the challenges were older by this interval.
    func age(_ interval: String) async throws {
        try await stage.rows(
            """
            UPDATE challenges SET created_at = created_at - interval '\(interval)',
                expires_at = expires_at - interval '\(interval)'
            """)
    }

    /// Begins a recovery of an account, and returns the person and the case ID.
    func begunRecovery() async throws -> (person: Identifier, caseID: Identifier) {
        let phone = newPhone()
        let person = try await session(phone: phone).user.id
        let caseID = Identifier.ordered()
        try await reply(to: try await claim(of: phone, caseID: caseID))
        return (person, caseID)
    }

    /// A claim with a right code.
    func claim(of phone: String, caseID: Identifier = .ordered()) async throws -> Asked<BeginRecovery> {
        let challenge = try await challenge(purpose: "recovery")
        return Asked(
            BeginRecovery(
                caseID: caseID, accountPhone: phone, challengeID: challenge.id, code: challenge.code,
                device: Sample.phone, freezeSeconds: 1_468_800), as: .recovery)
    }

    /// A claim of a number that has no account. The number `claimant` makes it.
    func claiming(by claimant: String) async throws -> Asked<BeginRecovery> {
        let challenge = try await challenge(for: claimant, purpose: "recovery")
        return Asked(
            BeginRecovery(
                caseID: .ordered(), accountPhone: newPhone(), challengeID: challenge.id, code: challenge.code,
                device: Sample.phone, freezeSeconds: 1_468_800), as: .recovery)
    }

    /// A request to complete a number's claim of an account, after the hold and with a new code.
    func applying(claimOf phone: String, by claimant: String) async throws -> Asked<ApplyRecovery> {
        let caseID = Identifier.ordered()
        let first = try await challenge(for: claimant, purpose: "recovery")
        try await reply(
            to: Asked(
                BeginRecovery(
                    caseID: caseID, accountPhone: phone, challengeID: first.id, code: first.code, device: Sample.phone,
                    freezeSeconds: 1_468_800), as: .recovery))
        try await age("2 minutes")
        try await stage.rows("UPDATE freezes SET hold_until = now() WHERE case_id = '\(caseID)'")
        let second = try await challenge(for: claimant, purpose: "recovery")
        return Asked(
            ApplyRecovery(caseID: caseID, challengeID: second.id, code: second.code, device: Sample.phone),
            as: .recovery, key: key())
    }

    /// A code other than the given one.
    nonisolated static func wrong(_ code: String) -> String { code == "000000" ? "000001" : "000000" }
}
