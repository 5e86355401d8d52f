import BusProtocol
import Cryptography
import Database
import EventLoop

/// The keys that sign access tokens: in the database, sealed under the ring, one for the whole fleet.
@Loop final class SigningKeyStore {
    private let database: Database
    private let sealer: Sealer
    private var current: AccessTokenIssuer?
    private var publicKeys: [SigningKeys.Key] = []

    nonisolated init(database: Database, sealer: Sealer) {
        self.database = database
        self.sealer = sealer
    }

    /// - Throws: ``DatabaseError/unavailable`` before the first `load`.
    var issuer: AccessTokenIssuer {
        get throws(DatabaseError) {
            guard let current else { throw .unavailable }
            return current
        }
    }

    var published: SigningKeys {
        get throws(DatabaseError) {
            guard current != nil else { throw .unavailable }
            return SigningKeys(keys: publicKeys)
        }
    }

    /// Reads the keys; the first replica of a fleet makes the first one, under a lock.
    func load() async throws {
        let rows = try await database.transaction { transaction in
            transaction.send("SELECT pg_advisory_xact_lock(hashtext('vestibule/signing-keys'))")
            let known = try await transaction.query(Self.select)
            guard known.isEmpty else { return known }
            let (kid, key) = (Identifier.ordered(), Ed25519PrivateKey())
            return try await transaction.query(
                Self.insert,
                [
                    .text(kid.description), .bytes(key.publicKey.raw),
                    .bytes(sealer.seal(key.seed, associated: Array(kid.description.utf8))),
                ])
        }
        publicKeys = try rows.map {
            SigningKeys.Key(x: Base64URL.encode(try $0.bytes("public_key")), kid: try $0.text("kid"))
        }
        guard let newest = rows.first else { return }
        let kid = try newest.text("kid")
        let seed = try sealer.open(try newest.bytes("seed_sealed"), associated: Array(kid.utf8))
        current = Ed25519PrivateKey(seed: seed).map { AccessTokenIssuer(kid: kid, key: $0) }
    }

    private static let select: Statement = """
        SELECT kid, public_key, seed_sealed FROM signing_keys ORDER BY created_at DESC
        """
    private static let insert: Statement = """
        INSERT INTO signing_keys (kid, public_key, seed_sealed) VALUES ($1, $2, $3) RETURNING kid, public_key, seed_sealed
        """
}
