import BusProtocol
import Database
import EventLoop

/// The row of a key that signs access tokens.
struct StoredSigningKey: Sendable {
    let kid: String
    /// The private key, sealed for its `kid`.
    let seedSealed: [UInt8]
    let signsFrom: Timestamp
    /// By the database's clock.
    let now: Timestamp
}

/// Rows of the keys that sign access tokens.
@Loop enum SigningKeyStore {
    /// Waits until no other replica reads or makes keys. Others then wait until the transaction ends.
    static func waitForTurn(in transaction: Transaction) { transaction.send(turn) }

    /// All keys. The key that begins to sign last is first.
    static func list(in transaction: Transaction) async throws -> [StoredSigningKey] {
        try await transaction.query(select).map {
            StoredSigningKey(
                kid: try $0.text("kid"), seedSealed: try $0.bytes("seed_sealed"),
                signsFrom: try $0.timestamp("signs_from"), now: try $0.timestamp("now"))
        }
    }

    /// - Parameter lead: the time until the key begins to sign.
    static func insert(
        _ kid: String, _ publicKey: [UInt8], sealed seed: [UInt8], after lead: Duration, in transaction: Transaction
    ) {
        transaction.send(
            insert, [.text(kid), .bytes(publicKey), .bytes(seed), .integer(lead.components.seconds)])
    }

    static func delete(_ kid: String, in transaction: Transaction) {
        transaction.send("DELETE FROM signing_keys WHERE kid = $1", [.text(kid)])
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
