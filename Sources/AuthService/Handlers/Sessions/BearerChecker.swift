import BusProtocol
import BusRuntime
import EventLoop
import ServiceRuntime

/// Verifies access tokens in auth itself. It serves requests for which the word of a gateway is not enough, since a
/// gateway may be compromised.
@Loop struct BearerChecker: Sendable {
    let keys: SigningKeyRotator

    nonisolated init(keys: SigningKeyRotator) { self.keys = keys }

    /// The actor of a token. The session's row says whether the session is alive, which the caller must check.
    ///
    /// - Throws: ``BusError`` `unauthorized` if auth did not issue the token, or if it expired.
    func actor(of token: String) throws(BusError) -> Actor {
        let verifier = AccessTokenVerifier(
            issuer: AccessTokenIssuer.issuer, audience: AccessTokenIssuer.issuer, keys: keys.verifying)
        do {
            return try verifier.verify(token, now: Timestamp.now().microsecondsSinceEpoch / 1_000_000).actor
        } catch {
            throw BusError(.unauthorized, "Please sign in.")
        }
    }

    /// The actor of a request. The gateway and the access token must name the same one.
    ///
    /// - Throws: ``BusError`` `unauthorized`.
    func actor(of context: RequestContext) throws(BusError) -> Actor {
        let actor = try context.person()
        guard let token = context.accessToken, try self.actor(of: token) == actor else {
            throw BusError(.unauthorized, "Please sign in.")
        }
        return actor
    }
}
