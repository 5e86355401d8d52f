import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import HTTPServer
import ProcessRuntime

/// Authenticates the caller of a request, and checks that the caller may use the route.
@Loop final class Gatekeeper {
    /// The caller, as the message to the service names them.
    struct Caller: Sendable {
        var actor: Actor?
        var recoveryToken: String?
    }

    let keys: SigningKeyFollower
    let revocations: RevocationFollower
    private let sessions: SessionChecker
    private let staffNetworks: [Network]?
    private let bus: Bus
    private var verifier: AccessTokenVerifier
    private var memory = TokenMemory()

    /// - Parameters:
    ///   - staffNetworks: networks from which staff and administrators may act; `nil` means any.
    ///   - keyPatience: how long after auth's last reply the known signing keys count as complete.
    init(
        bus: Bus, issuer: String, audience: String, staffNetworks: [Network]? = nil,
        keyPatience: Duration = SigningKeyFollower.patience
    ) {
        self.staffNetworks = staffNetworks
        keys = SigningKeyFollower(bus: bus, patience: keyPatience)
        revocations = RevocationFollower(bus: bus)
        sessions = SessionChecker(bus: bus)
        self.bus = bus
        verifier = AccessTokenVerifier(issuer: issuer, audience: audience)
    }

    var isReady: Bool { keys.document != nil && revocations.hasSnapshot }

    /// - Parameter address: the address of the client.
    func admit(
        _ headers: HTTPHeaders, to access: Route.Access, from address: String
    ) async throws(Problem) -> Caller {
        switch access {
        case .public: return Caller()
        case .ops: throw Self.operatorsOnly
        case .recoveryToken:
            let token = try Self.bearer(Self.credentials(headers, .recovery), .recovery)
            guard token.utf8.count <= 128 else { throw Credentials.recovery.invalid }
            return Caller(recoveryToken: token)
        case .anybody, .userOrMember:
            return headers.first("authorization") == nil ? Caller() : Caller(actor: try await person(headers))
        case .user: return Caller(actor: try await person(headers))
        case .staff, .admin:
            let actor = try await person(headers)
            guard access == .staff ? actor.isStaff : actor.isAdmin, isStaffNetwork(address) else {
                throw Problem(.forbidden, "You are not allowed to do this.")
            }
            return Caller(actor: actor)
        }
    }

    /// The access token of a request, unchecked, for a service that checks it.
    static func accessToken(in headers: HTTPHeaders) throws(Problem) -> String {
        try bearer(credentials(headers, .access), .access)
    }

    /// The person of an access token that auth has just made. It does not count as used, since no client has it yet.
    func actor(of accessToken: String) async throws(Problem) -> Actor { try await verified(accessToken).actor }

    private func isStaffNetwork(_ address: String) -> Bool {
        guard let staffNetworks else { return true }
        guard let address = NetworkAddress(address) else { return false }
        return staffNetworks.contains { $0.contains(address) }
    }

    static var operatorsOnly: Problem { Problem(.unauthorized, "This is for the operator only.") }
    static var unauthorized: Problem { Credentials.access.missing }

    /// The value of the header `Authorization`, which must appear exactly once.
    private static func credentials(_ headers: HTTPHeaders, _ wanted: Credentials) throws(Problem) -> String {
        let values = headers.all("authorization")
        guard let value = values.first else { throw wanted.missing }
        guard values.count == 1 else { throw wanted.repeated }
        return value
    }

    /// The token after `Bearer `. It may have visible ASCII characters only, as RFC 6750 requires.
    private static func bearer(_ credentials: String, _ wanted: Credentials) throws(Problem) -> String {
        // This works on bytes, since splitting a long text by characters takes longer than all other checks here.
        let scheme = Array(credentials.utf8.prefix(7))
        guard String(decoding: scheme, as: UTF8.self).lowercased() == "bearer " else {
            throw wanted.withoutScheme
        }
        let token = Array(credentials.utf8)[scheme.count...]
        guard !token.isEmpty, token.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw wanted.invalid
        }
        return String(decoding: token, as: UTF8.self)
    }

    private func person(_ headers: HTTPHeaders) async throws(Problem) -> Actor {
        let credentials = try Self.credentials(headers, .access)
        // The digest finds credentials that were verified before, which saves checking the signature again.
        let digest = SHA256.digest(Array(credentials.utf8))
        var known: KnownToken
        if let recalled = memory.recall(digest) {
            known = recalled
        } else {
            known = KnownToken(try await verified(Self.bearer(credentials, .access)))
            memory.remember(known, digest)
        }
        let (token, now) = (known.token, Self.now())
        guard token.expiresAt > now else { throw Problem(.tokenExpired, "Your session needs a new token.") }
        let session = token.actor.sessionID
        let isRevoked = revocations.isRevoked(session)
        if isRevoked { throw Self.revoked }
        if let use = known.report(now: now) {
            // Remember the token before anything waits, so that simultaneous requests report the use once.
            memory.remember(known, digest)
            // The request does not wait for this call. If the call fails, the previous refresh token still ends soon.
            Loop.spawn { [self] in await reportUse(use) }
        }
        if revocations.isStale {
            let isActive: Bool
            do { isActive = try await sessions.isActive(session) } catch { throw Self.problem(error) }
            guard isActive else { throw Self.revoked }
        }
        return token.actor
    }

    private func reportUse(_ use: NoteTokenUse) async {
        _ = try? await bus.call(use, CallOptions(timeout: .seconds(2)))
    }

    private static var revoked: Problem { Problem(.tokenRevoked, "This session has ended. Please sign in again.") }

    private func verified(_ text: String) async throws(Problem) -> AccessToken {
        do {
            return try await verify(text)
        } catch {
            switch error {
            case .expired: throw Problem(.tokenExpired, "Your session needs a new token.")
            case .invalid: throw Credentials.access.invalid
            case .unknownKey:
                // If auth has not replied for a while, the unknown key may be a new one of auth's.
                guard keys.isCurrent else {
                    throw Problem(.serviceUnavailable, "Signing in is not available right now. Please try again.")
                }
                throw Credentials.access.invalid
            }
        }
    }

    private func verify(_ text: String) async throws(TokenRefusal) -> AccessToken {
        verifier.keys = keys.keys
        do {
            return try verifier.verify(text, now: Self.now())
        } catch {
            guard error == .unknownKey else { throw error }
        }
        await keys.refresh()
        verifier.keys = keys.keys
        return try verifier.verify(text, now: Self.now())
    }

    private static func problem(_ error: any Error) -> Problem {
        (error as? BusError).map { Problem($0) } ?? Problem(.internalError, Problem.internalDetail)
    }

    private static func now() -> Int64 { Timestamp.now().microsecondsSinceEpoch / 1_000_000 }
}
