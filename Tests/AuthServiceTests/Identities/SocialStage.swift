import BusProtocol
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService

/// Auth with an Apple and a Google that are small local servers.
@Loop struct SocialStage {
    let auth: AuthStage
    let forge: IdentityForge
    let keys: ProviderServer
    /// Apple's token and revocation addresses.
    let apple: ProviderServer

    nonisolated static func run(
        replicas: Int = 1, _ body: @escaping @Loop @Sendable (SocialStage) async throws -> Void
    ) async throws {
        let forge = IdentityForge()
        let set = String(decoding: CanonicalJSON.bytes(of: forge.keySet), as: UTF8.self)
        let keys = try await ProviderServer(.answers(status: 200, body: set))
        let apple = try await ProviderServer(.answers(status: 200, body: #"{"refresh_token":"r.apple"}"#))
        var variables = IdentityForge.variables(keySet: await keys.url)
        variables["AUTH_APPLE_TOKEN_URL"] = await apple.url + "/token"
        variables["AUTH_APPLE_REVOKE_URL"] = await apple.url + "/revoke"
        variables["AUTH_APPLE_TEAM_ID"] = "TEAM"
        variables["AUTH_APPLE_KEY_ID"] = "KEY"
        variables["AUTH_APPLE_KEY"] = forge.key.pem
        try await AuthStage.run(replicas: replicas, environment: variables) {
            try await body(SocialStage(auth: $0, forge: forge, keys: keys, apple: apple))
        }
        await keys.stop()
        await apple.stop()
    }

    func actor(_ session: Session) -> Actor { auth.actor(session) }

    func nonce(_ provider: String) async throws -> String {
        try await auth.ask(IssueSocialNonce(provider: provider)).nonce
    }

    /// - Parameter code: Apple's authorization code.
    func signIn(
        _ provider: String, subject: String, code: String? = nil, device: DeviceClaim = AuthStage.device,
        app: String? = nil
    ) async throws -> SocialSignedIn {
        let nonce = try await nonce(provider)
        let token = forge.token(provider, subject: subject, nonce: nonce)
        guard provider == "apple" else {
            return try await auth.ask(SignInWithGoogle(identityToken: token, nonce: nonce, device: device, app: app))
        }
        return try await auth.ask(
            SignInWithApple(
                identityToken: token, nonce: nonce, device: device, authorizationCode: code, app: app))
    }

    func linkToken(_ provider: String, subject: String, code: String? = nil) async throws -> String {
        guard case .phoneVerificationRequired(let required) = try await signIn(provider, subject: subject, code: code)
        else {
            Issue.record("it is linked already")
            return ""
        }
        return required.linkToken
    }

    func session(_ provider: String, subject: String, app: String? = nil) async throws -> Session? {
        guard case .session(let session) = try await signIn(provider, subject: subject, app: app) else { return nil }
        return session
    }

    /// A code that links; with the SMS that brought it.
    func linkCode(
        _ token: String, to phone: String
    ) async throws -> (challenge: Identifier, code: String, text: String) {
        try await auth.age("20 minutes")
        let known = auth.spool.codes(for: phone).count
        let sent = try await auth.ask(SendOTP(phone: phone, linkToken: token))
        let code = try await auth.spool.code(for: phone, after: known)
        let texts = auth.spool.messages().filter { $0["to"]?.stringValue == phone }.compactMap {
            $0["body"]?.stringValue
        }
        return (sent.challengeId, code, texts.last ?? "")
    }

    /// Links an identity to a phone's account.
    func link(
        _ provider: String, subject: String, to phone: String, code authorization: String? = nil
    ) async throws -> Session {
        let token = try await linkToken(provider, subject: subject, code: authorization)
        let (challenge, code, _) = try await linkCode(token, to: phone)
        return try await auth.ask(
            VerifyOTP(challengeId: challenge, code: code, device: AuthStage.device, confirmLink: true))
    }

    /// A code for another number, by a session.
    func changeCode(to phone: String, by session: Session) async throws -> (challenge: Identifier, code: String) {
        try await auth.age("20 minutes")
        let known = auth.spool.codes(for: phone).count
        let sent = try await auth.ask(SendOTP(phone: phone, purpose: "change_phone"), as: actor(session))
        return (sent.challengeId, try await auth.spool.code(for: phone, after: known))
    }

    /// How many codes, notices and calls wait in the outbox. Events do not count: no other service listens.
    func underWay() async throws -> String {
        try await auth.stage.rows("SELECT count(*) FROM outbox WHERE message_type IS NULL")
    }

    /// Waits until all codes, notices and calls were sent.
    func waitUntilSent() async throws { #expect(try await eventually { try await underWay() == "0" }) }
}
