import BusProtocol
import Database
import EventLoop

/// The row of a linked identity.
struct LinkedIdentity: Sendable {
    let hash: [UInt8]
    let provider: IdentityProviderName
    let sealed: [UInt8]
    /// Apple's refresh token, sealed; `nil` if there is none.
    let refreshSealed: [UInt8]?
    let linkedAt: Timestamp
    let lastUsedAt: Timestamp
    /// Whether the account was recovered since the link was made. The identity opens nothing until it is linked again.
    let isToConfirm: Bool
}

/// Rows of linked identities.
@Loop enum IdentityStore {
    /// The account that an identity opens, locked until the transaction ends; `nil` if there is none.
    static func account(_ hash: [UInt8], in transaction: Transaction) async throws -> StoredAccount? {
        try await AccountStore.locked(ofHash, .bytes(hash), in: transaction)
    }

    /// The person to whom an identity is linked; `nil` if there is none.
    static func owner(_ hash: [UInt8], in transaction: Transaction) async throws -> Identifier? {
        try await transaction.query("SELECT person_id FROM identities WHERE hash = $1", [.bytes(hash)]).first?
            .uuid("person_id")
    }

    /// Records that an identity was used.
    ///
    /// - Parameter sealed: the identity's new data; `nil` keeps the present data.
    static func touch(_ hash: [UInt8], sealed: [UInt8]?, in transaction: Transaction) {
        transaction.send(
            "UPDATE identities SET sealed = coalesce($2, sealed), last_used_at = clock_timestamp() WHERE hash = $1",
            [.bytes(hash), .bytes(sealed)])
    }

    static func describe(_ hash: [UInt8], sealed: [UInt8], in transaction: Transaction) {
        transaction.send("UPDATE identities SET sealed = $2 WHERE hash = $1", [.bytes(hash), .bytes(sealed)])
    }

    /// Records a notification from Apple.
    ///
    /// - Parameters:
    ///   - id: the hash of its `jti`.
    ///   - seconds: how long the notification is valid. It is remembered for a day longer.
    /// - Returns: false if it was recorded before.
    static func isNews(_ id: [UInt8], seconds: Int64, in transaction: Transaction) async throws -> Bool {
        try await !transaction.query(takeNotification, [.bytes(id), .integer(seconds)]).isEmpty
    }

    /// - Returns: false if the identity is linked already.
    static func insert(
        _ hash: [UInt8], keyID: String, person: Identifier, provider: IdentityProviderName, sealed: [UInt8],
        refresh: [UInt8]?, in transaction: Transaction
    ) async throws -> Bool {
        let values: [SQLValue] = [
            .bytes(hash), .text(keyID), .uuid(person), .text(provider.rawValue), .bytes(sealed), .bytes(refresh),
        ]
        return try await !transaction.query(insert, values).isEmpty
    }

    static func list(of person: Identifier, in database: Database) async throws -> [LinkedIdentity] {
        try await database.read(select, [.uuid(person)]).map { try LinkedIdentity($0) }
    }

    /// Locks the rows until the transaction ends.
    static func list(of person: Identifier, in transaction: Transaction) async throws -> [LinkedIdentity] {
        try await transaction.query(selectLocked, [.uuid(person)]).map { try LinkedIdentity($0) }
    }

    /// Lets an identity open its account again.
    static func confirm(_ hash: [UInt8], in transaction: Transaction) {
        transaction.send("UPDATE identities SET to_confirm_since = NULL WHERE hash = $1", [.bytes(hash)])
    }

    static func remove(_ hash: [UInt8], in transaction: Transaction) {
        transaction.send("DELETE FROM identities WHERE hash = $1", [.bytes(hash)])
    }

    /// Stores a refresh token with its identity, which is linked or about to be.
    ///
    /// - Returns: false if the identity is neither.
    static func keepRefresh(
        _ sealed: [UInt8], of hash: [UInt8], in transaction: Transaction
    ) async throws -> Bool {
        // The order matters: the first query waits for a link that is being made, and the second finds it.
        let pending = try await transaction.query(keepPending, [.bytes(hash), .bytes(sealed)])
        let linked = try await transaction.query(keepLinked, [.bytes(hash), .bytes(sealed)])
        return !pending.isEmpty || !linked.isEmpty
    }

    /// The time by the database's clock.
    static func now(in transaction: Transaction) async throws -> Timestamp {
        guard let row = try await transaction.query("SELECT clock_timestamp() AS now").first else {
            throw DatabaseError.aborted
        }
        return try row.timestamp("now")
    }

    private static let ofHash = AccountStore.Search(
        """
        SELECT a.id, a.role, a.status, n.key_sealed
        FROM identities i JOIN accounts a ON a.id = i.person_id LEFT JOIN pseudonyms n ON n.person_id = a.id
        WHERE i.hash = $1 AND i.to_confirm_since IS NULL
        """)
    private static let insert: Statement = """
        INSERT INTO identities (hash, key_id, person_id, provider, sealed, refresh_sealed)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (hash) DO NOTHING RETURNING hash
        """
    private static let select: Statement = """
        SELECT hash, provider, sealed, refresh_sealed, linked_at, last_used_at, to_confirm_since IS NOT NULL AS is_to_confirm
        FROM identities WHERE person_id = $1 ORDER BY provider
        """
    private static let selectLocked: Statement = """
        SELECT hash, provider, sealed, refresh_sealed, linked_at, last_used_at, to_confirm_since IS NOT NULL AS is_to_confirm
        FROM identities WHERE person_id = $1 ORDER BY provider FOR UPDATE
        """
    private static let takeNotification: Statement = """
        INSERT INTO apple_notifications (hash, forget_at)
        VALUES ($1, clock_timestamp() + $2::bigint * interval '1 s' + interval '1 day')
        ON CONFLICT (hash) DO NOTHING RETURNING hash
        """
    private static let keepPending: Statement = """
        UPDATE link_tokens SET refresh_sealed = $2 WHERE identity_hash = $1 RETURNING hash
        """
    private static let keepLinked: Statement = """
        UPDATE identities SET refresh_sealed = $2 WHERE hash = $1 RETURNING hash
        """
}

extension LinkedIdentity {
    fileprivate init(_ row: Row) throws {
        guard let provider = IdentityProviderName(rawValue: try row.text("provider")) else {
            throw DatabaseError.unreadable(column: "provider")
        }
        self.init(
            hash: try row.bytes("hash"), provider: provider, sealed: try row.bytes("sealed"),
            refreshSealed: try row.optionalBytes("refresh_sealed"), linkedAt: try row.timestamp("linked_at"),
            lastUsedAt: try row.timestamp("last_used_at"), isToConfirm: try row.bool("is_to_confirm"))
    }
}
