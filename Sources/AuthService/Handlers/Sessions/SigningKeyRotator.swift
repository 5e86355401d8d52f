import BusProtocol
import Cryptography
import Database
import EventLoop

/// The keys that sign access tokens, as this replica last read them. The database has them, sealed with the key ring.
/// One replica makes the next key, on schedule or when an operator asks.
@Loop final class SigningKeyRotator {
    /// How often a replica reads the keys.
    nonisolated static let interval = Duration.seconds(5)

    private struct Key {
        let signsFrom: Timestamp
        let issuer: AccessTokenIssuer
    }

    private let database: Database
    private let sealer: Sealer
    private let audit: AuditTrail
    private let period: Duration?
    /// The key that begins to sign last is first.
    private var keys: [Key] = []
    private var readAt: UInt64 = 0
    /// Called when a key is seen for the first time.
    var onKey: @Loop (_ kid: String, _ signsFrom: Timestamp) -> Void = { _, _ in }

    /// - Parameter period: how often a new key is made; `nil` if keys are rotated by hand only.
    nonisolated init(database: Database, sealer: Sealer, audit: AuditTrail, period: Duration?) {
        self.database = database
        self.sealer = sealer
        self.audit = audit
        self.period = period
    }

    /// Whether this replica has read the keys.
    var areLoaded: Bool { !keys.isEmpty }

    /// The issuer that signs at a time.
    ///
    /// - Throws: ``DatabaseError/unavailable`` before the first `load`, or if the last one was too long ago.
    func issuer(at now: Timestamp) throws(DatabaseError) -> AccessTokenIssuer {
        guard MonotonicClock.now() < readAt + SigningKeyPolicy.freshness.nanoseconds,
            let begun = SigningKeyPolicy.signer(of: keys.map(\.signsFrom), at: now),
            let key = keys.first(where: { $0.signsFrom == begun })
        else { throw .unavailable }
        return key.issuer
    }

    /// The public keys that verify tokens now or soon.
    var published: SigningKeys {
        get throws(DatabaseError) {
            guard !keys.isEmpty else { throw .unavailable }
            return SigningKeys(
                keys: keys.map { .init(x: Base64URL.encode($0.issuer.key.publicKey.raw), kid: $0.issuer.kid) })
        }
    }

    /// The public keys that verify access tokens, by `kid`.
    var verifying: [String: Ed25519PublicKey] {
        Dictionary(keys.map { ($0.issuer.kid, $0.issuer.key.publicKey) }) { first, _ in first }
    }

    /// Reads the keys. Under a lock, it makes the first key if there is none, and the next one when the schedule
    /// requires it.
    func load() async throws {
        try await read { [period] in SigningKeyPolicy.isDue(newest: $0, every: period, now: $1) }
    }

    /// Publishes a new key, unless one already waits to sign.
    func rotate() async throws -> SigningKeyRotated {
        try await read { newest, now in !(now < newest) }
        guard let newest = keys.first else { throw DatabaseError.unavailable }
        return SigningKeyRotated(kid: newest.issuer.kid, signsFrom: newest.signsFrom)
    }

    /// - Parameter needsKey: decides whether to make a new key, from when the newest key begins to sign and the
    ///   database's clock.
    private func read(_ needsKey: (_ newest: Timestamp, _ now: Timestamp) -> Bool) async throws {
        let began = MonotonicClock.now()
        let rows = try await database.transaction { transaction in
            SigningKeyStore.waitForTurn(in: transaction)
            let known = try await SigningKeyStore.list(in: transaction)
            if let newest = known.first, !needsKey(newest.signsFrom, newest.now) {
                forget(known, in: transaction)
                return known
            }
            // The first key signs at once: otherwise nobody could sign in until then.
            make(after: known.isEmpty ? .zero : SigningKeyPolicy.lead, in: transaction)
            return try await SigningKeyStore.list(in: transaction)
        }
        try take(rows)
        readAt = began
    }

    private func make(after lead: Duration, in transaction: Transaction) {
        let (kid, key) = (Identifier.ordered().description, Ed25519PrivateKey())
        SigningKeyStore.insert(
            kid, key.publicKey.raw, sealed: sealer.seal(key.seed, associated: Array(kid.utf8)), after: lead,
            in: transaction)
        audit.note(AuditAct("signing_key_made", ["kid": kid]), on: .service, in: transaction)
    }

    /// Deletes the keys whose tokens have all expired. The next read does not return them.
    private func forget(_ rows: [StoredSigningKey], in transaction: Transaction) {
        for (successor, row) in zip(rows, rows.dropFirst())
        where SigningKeyPolicy.isOver(successor: successor.signsFrom, now: row.now) {
            SigningKeyStore.delete(row.kid, in: transaction)
            audit.note(AuditAct("signing_key_forgotten", ["kid": row.kid]), on: .service, in: transaction)
        }
    }

    private func take(_ rows: [StoredSigningKey]) throws {
        let known = Set(keys.map(\.issuer.kid))
        keys = try rows.map { row in
            let seed = try sealer.open(row.seedSealed, associated: Array(row.kid.utf8))
            guard let key = Ed25519PrivateKey(seed: seed) else { throw DatabaseError.unreadable(column: "seed_sealed") }
            return Key(signsFrom: row.signsFrom, issuer: AccessTokenIssuer(kid: row.kid, key: key))
        }
        for key in keys where !known.contains(key.issuer.kid) { onKey(key.issuer.kid, key.signsFrom) }
    }
}
