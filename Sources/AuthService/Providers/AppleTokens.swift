import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// Apple's refresh tokens. The code of a sign-in is exchanged for one, which is stored sealed with the identity. It is
/// revoked when the identity is removed.
struct AppleTokens: Sendable {
    /// The destinations in the outbox.
    static let (exchange, revocation) = ("apple-exchange", "apple-revocation")

    let database: Database
    let outbox: Outbox
    let log: Log
    let secrets: Secrets
    /// `nil` if no key of Apple's is configured. Then no code is exchanged.
    let client: AppleClient?
    /// How long a failing revocation is tried again.
    var patience = Duration.seconds(86_400)

    private struct Exchange: Codable {
        var code: String
        var clientID: String
        /// The hash of the identity, as ``Base64URL``.
        var identity: String
    }

    /// The data that is stored with the identity.
    private struct StoredToken: Codable {
        var token: String
        var clientID: String
    }

    private struct Revocation: Codable {
        var kept: StoredToken
        /// The number of failed attempts.
        var failures: Int
        var giveUpAt: Timestamp
    }

    // MARK: In a request's transaction

    /// Queues the exchange of a sign-in's code.
    @Loop func get(_ code: String, for identity: ProvenIdentity, in transaction: Transaction) throws {
        guard client != nil else { return }
        let exchange = Exchange(
            code: code, clientID: identity.audience, identity: Base64URL.encode(secrets.hash(of: identity)))
        outbox.enqueue(Self.exchange, payload: try WireJSON.encode(exchange), in: transaction)
    }

    /// Queues the revocation of an identity's refresh token, if it has one. Call it in the transaction that removes the
    /// identity: the outbox gets a copy of the token.
    @Loop func revoke(_ identity: LinkedIdentity, in transaction: Transaction) async throws {
        guard let sealed = identity.refreshSealed else { return }
        let kept = try WireJSON.decode(
            StoredToken.self, from: try secrets.refreshSealer.open(sealed, associated: identity.hash))
        try await revoke(kept, in: transaction)
    }

    /// Queues the revocation of all refresh tokens of a person. Deletion calls it before it deletes the identities.
    @Loop func revokeAll(of person: Identifier, in transaction: Transaction) async throws {
        for identity in try await IdentityStore.list(of: person, in: transaction) {
            try await revoke(identity, in: transaction)
        }
    }

    @Loop private func revoke(_ kept: StoredToken, in transaction: Transaction) async throws {
        let revocation = Revocation(
            kept: kept, failures: 0, giveUpAt: try await IdentityStore.now(in: transaction) + patience)
        outbox.enqueue(Self.revocation, payload: try WireJSON.encode(revocation), in: transaction)
    }

    // MARK: From the outbox

    /// Exchanges a code. If the identity was removed meanwhile, it revokes the new token.
    @Loop func exchange(_ item: OutboxItem) async throws {
        let exchange = try WireJSON.decode(Exchange.self, from: item.payload)
        guard let client, let identity = Base64URL.decode(exchange.identity) else { return }
        let token: String?
        do throws(AppleClient.TemporaryFailure) {
            token = try await client.refreshToken(for: exchange.code, clientID: exchange.clientID)
        } catch {
            // The pauses are short, since a code expires after five minutes.
            throw DeliveryPostponed(pause: .seconds(min(40, 1 << min(item.attempts, 6))), code: "apple_not_now")
        }
        guard let token else { return log.warning("apple_code_not_taken") }
        let kept = StoredToken(token: token, clientID: exchange.clientID)
        let sealed = secrets.refreshSealer.seal(try WireJSON.encode(kept), associated: identity)
        try await database.transaction { transaction in
            guard try await !IdentityStore.keepRefresh(sealed, of: identity, in: transaction) else { return }
            try await revoke(kept, in: transaction)
        }
    }

    /// Revokes a token. If that fails, a later item of the outbox tries again, for a day.
    @Loop func revoke(_ item: OutboxItem) async throws {
        var revocation = try WireJSON.decode(Revocation.self, from: item.payload)
        guard let client else { return log.warning("apple_revocation_given_up") }
        do throws(AppleClient.TemporaryFailure) {
            try await client.revoke(revocation.kept.token, clientID: revocation.kept.clientID)
        } catch {
            let pause = Self.pause(afterFailures: revocation.failures)
            revocation.failures += 1
            try await database.transaction { transaction in
                let next = try await IdentityStore.now(in: transaction) + pause
                guard next < revocation.giveUpAt else { return log.warning("apple_revocation_given_up") }
                outbox.enqueue(
                    Self.revocation, payload: try WireJSON.encode(revocation), dueAt: next, in: transaction)
            }
        }
    }

    /// A second, doubled after each failure, 15 minutes at most. That is about a hundred attempts a day.
    static func pause(afterFailures failures: Int) -> Duration { .seconds(min(900, 1 << min(failures, 10))) }
}
