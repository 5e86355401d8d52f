import BusProtocol
import Cryptography
import Database
import EventLoop

/// The keys that sign access tokens: in the database, sealed under the ring, the same for the whole fleet.
@Loop final class SigningKeyStore {
    /// Between two looks of a replica.
    nonisolated static let interval = Duration.seconds(5)

    private struct Key {
        let signsFrom: Timestamp
        let issuer: AccessTokenIssuer
    }

    private let database: Database
    private let sealer: Sealer
    private let audit: AuditTrail
    private let period: Duration?
    /// The one that signs last first.
    private var keys: [Key] = []
    private var readAt: UInt64 = 0
    /// Told of each key when it is seen for the first time.
    var onKey: @Loop (_ kid: String, _ signsFrom: Timestamp) -> Void = { _, _ in }

    /// - Parameter period: of the schedule; `nil` where keys are rotated by hand only.
    nonisolated init(database: Database, sealer: Sealer, audit: AuditTrail, period: Duration?) {
        self.database = database
        self.sealer = sealer
        self.audit = audit
        self.period = period
    }

    /// Whether this replica has seen the keys.
    var areLoaded: Bool { !keys.isEmpty }

    /// What signs at a moment.
    ///
    /// - Throws: ``DatabaseError/unavailable`` before the first `load`, and where the last was too long ago.
    func issuer(at now: Timestamp) throws(DatabaseError) -> AccessTokenIssuer {
        guard MonotonicClock.now() < readAt + SigningKeyPolicy.freshness.nanoseconds,
            let begun = SigningKeyPolicy.signer(of: keys.map(\.signsFrom), at: now),
            let key = keys.first(where: { $0.signsFrom == begun })
        else { throw .unavailable }
        return key.issuer
    }

    /// Every key of which a token may be alive, or soon is.
    var published: SigningKeys {
        get throws(DatabaseError) {
            guard !keys.isEmpty else { throw .unavailable }
            return SigningKeys(
                keys: keys.map { .init(x: Base64URL.encode($0.issuer.key.publicKey.raw), kid: $0.issuer.kid) })
        }
    }

    /// Every key that an access token may be signed with, by `kid`.
    var verifying: [String: Ed25519PublicKey] {
        Dictionary(keys.map { ($0.issuer.kid, $0.issuer.key.publicKey) }) { first, _ in first }
    }

    /// Reads the keys. The first replica of a fleet makes the first one, and whoever finds that the schedule wants the
    /// next makes it, under a lock.
    func load() async throws {
        try await read { [period] in SigningKeyPolicy.isDue(newest: $0, every: period, now: $1) }
    }

    /// Publishes a new key, unless one is waiting to sign already.
    func rotate() async throws -> SigningKeyRotated {
        try await read { newest, now in !(now < newest) }
        guard let newest = keys.first else { throw DatabaseError.unavailable }
        return SigningKeyRotated(kid: newest.issuer.kid, signsFrom: newest.signsFrom)
    }

    /// - Parameter needsKey: whether a new one is made, by when the newest begins to sign and the database's clock.
    private func read(_ needsKey: (_ newest: Timestamp, _ now: Timestamp) -> Bool) async throws {
        let began = MonotonicClock.now()
        let rows = try await database.transaction { transaction in
            transaction.send(Self.turn)
            let known = try await transaction.query(Self.select)
            if let newest = known.first {
                guard try needsKey(newest.timestamp("signs_from"), newest.timestamp("now")) else {
                    try forget(known, in: transaction)
                    return known
                }
            }
            // Nobody could sign in while the first one waited.
            make(after: known.isEmpty ? .zero : SigningKeyPolicy.lead, in: transaction)
            return try await transaction.query(Self.select)
        }
        try take(rows)
        readAt = began
    }

    private func make(after lead: Duration, in transaction: Transaction) {
        let (kid, key) = (Identifier.ordered(), Ed25519PrivateKey())
        transaction.send(
            Self.insert,
            [
                .text(kid.description), .bytes(key.publicKey.raw),
                .bytes(sealer.seal(key.seed, associated: Array(kid.description.utf8))),
                .integer(lead.components.seconds),
            ])
        audit.note(AuditAct("signing_key_made", ["kid": kid.description]), on: .service, in: transaction)
    }

    /// Removes the keys of which no token can be alive; the next look does not find them.
    private func forget(_ rows: [Row], in transaction: Transaction) throws {
        for (successor, row) in zip(rows, rows.dropFirst())
        where try SigningKeyPolicy.isOver(successor: successor.timestamp("signs_from"), now: row.timestamp("now")) {
            let kid = try row.text("kid")
            transaction.send("DELETE FROM signing_keys WHERE kid = $1", [.text(kid)])
            audit.note(AuditAct("signing_key_forgotten", ["kid": kid]), on: .service, in: transaction)
        }
    }

    private func take(_ rows: [Row]) throws {
        let known = Set(keys.map(\.issuer.kid))
        keys = try rows.map { row in
            let kid = try row.text("kid")
            let seed = try sealer.open(try row.bytes("seed_sealed"), associated: Array(kid.utf8))
            guard let key = Ed25519PrivateKey(seed: seed) else { throw DatabaseError.unreadable(column: "seed_sealed") }
            return Key(signsFrom: try row.timestamp("signs_from"), issuer: AccessTokenIssuer(kid: kid, key: key))
        }
        for key in keys where !known.contains(key.issuer.kid) { onKey(key.issuer.kid, key.signsFrom) }
    }

    private static let turn = Statement("SELECT \(AdvisoryLock.signingKeys.wait())")
    private static let select: Statement = """
        SELECT kid, seed_sealed, signs_from, clock_timestamp() AS now FROM signing_keys ORDER BY signs_from DESC
        """
    private static let insert: Statement = """
        INSERT INTO signing_keys (kid, public_key, seed_sealed, signs_from)
        VALUES ($1, $2, $3, clock_timestamp() + $4::bigint * interval '1 s')
        """
}
