import BusProtocol
import BusRuntime
import EventLoop
import ServiceRuntime

/// Looks at access tokens itself, for acts in which the word of a gateway that was broken into must not be enough.
@Loop struct BearerChecker: Sendable {
    let keys: SigningKeyStore

    nonisolated init(keys: SigningKeyStore) { self.keys = keys }

    /// Whose a token is. Whether its session is alive stands in its row.
    ///
    /// - Throws: ``BusError`` `unauthorized` for a token that is none of auth's, or over.
    func actor(of token: String) throws(BusError) -> Actor {
        let verifier = AccessTokenVerifier(
            issuer: AccessTokenIssuer.issuer, audience: AccessTokenIssuer.issuer, keys: keys.verifying)
        do {
            return try verifier.verify(token, now: Timestamp.now().microsecondsSinceEpoch / 1_000_000).actor
        } catch {
            throw BusError(.unauthorized, "Please sign in.")
        }
    }

    /// The person behind a request, of whom the gateway and the token say the same.
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
