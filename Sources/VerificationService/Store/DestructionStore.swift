import BusProtocol
import Database
import EventLoop

/// Ends rows of `media`, and reads and deletes the rows of `destructions` that then say what is to destroy.
@Loop struct DestructionStore {
    let database: Database

    /// A picture whose row has ended.
    struct Picture: Sendable {
        let media: Identifier
        let purpose: String
        let reason: String
        let dueAt: Timestamp

        fileprivate init(_ row: Row) throws {
            media = try row.uuid("media_id")
            purpose = try row.text("purpose")
            reason = try row.text("reason")
            dueAt = try row.timestamp("due_at")
        }
    }

    /// Ends some rows of `media` whose time is over.
    ///
    /// - Returns: how many. Others may be left.
    func endExpired() async throws -> Int64 {
        try await database.write(Self.expired, [.text("expired")]).first?.integer("ended") ?? 0
    }

    /// Takes some pictures that are due and whose keys may be there. They are due again in 20 s: a withdrawal destroys within a
    /// minute, also if this replica is killed now.
    func takeKeys(atMost limit: Int) async throws -> [Picture] {
        try await database.write(Self.takeKeys, [.integer(Int64(limit))]).map(Picture.init)
    }

    /// Notes that the keys of pictures that were taken together are destroyed. Their bytes are due at once. As in
    /// ``remove(_:in:)``, a row with another due time stays as it is.
    func noteKeys(of pictures: [Picture]) async throws {
        _ = try await database.write(
            Self.keysDestroyed, [.uuidArray(pictures.map(\.media)), .timestamp(pictures.first?.dueAt)])
    }

    /// Takes some pictures that are due and whose keys are destroyed. They are due again in a minute.
    func takeBytes(atMost limit: Int) async throws -> [Picture] {
        try await database.write(Self.takeBytes, [.integer(Int64(limit))]).map(Picture.init)
    }

    /// Deletes the rows of pictures that are destroyed and were taken together. A row with another due time stays: a
    /// replica took it later, or wrote the bytes again.
    ///
    /// - Returns: those whose rows were deleted.
    func remove(_ pictures: [Picture], in transaction: Transaction) async throws -> [Picture] {
        let values: [SQLValue] = [.uuidArray(pictures.map(\.media)), .timestamp(pictures.first?.dueAt)]
        return try await transaction.query(Self.done, values).map(Picture.init)
    }

    /// Ends those pictures that have no row.
    func endOrphans(among media: [Identifier]) async throws {
        _ = try await database.write(Self.orphans, [.uuidArray(media)])
    }

    /// After an outage, all rows at once could take longer than a statement may. A row that is locked waits for the next
    /// time.
    private static let expired = MediaStore.end(
        """
        media_id = ANY(ARRAY(
            SELECT media_id FROM media WHERE expires_at <= now() ORDER BY expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED))
        """, "$1")
    private static let takeKeys = take("key_destroyed_at IS NULL", for: "20 s")
    private static let takeBytes = take("key_destroyed_at IS NOT NULL", for: "1 minute")
    private static let keysDestroyed: Statement = """
        UPDATE destructions SET key_destroyed_at = clock_timestamp(), due_at = clock_timestamp()
        WHERE media_id = ANY($1) AND due_at = $2
        """
    private static let done: Statement = """
        DELETE FROM destructions WHERE media_id = ANY($1) AND due_at = $2
        RETURNING media_id, purpose, reason, due_at
        """
    private static let orphans: Statement = """
        INSERT INTO destructions (media_id, purpose, reason, due_at)
        SELECT id, 'unknown', 'orphan', clock_timestamp() FROM unnest($1::uuid[]) AS id
        WHERE NOT EXISTS (SELECT FROM media WHERE media_id = id) ON CONFLICT (media_id) DO NOTHING
        """

    /// All rows get the same time.
    private static func take(_ condition: String, for time: String) -> Statement {
        Statement(
            """
            UPDATE destructions SET due_at = now() + interval '\(time)' WHERE media_id = ANY(ARRAY(
                SELECT media_id FROM destructions WHERE due_at <= now() AND \(condition)
                ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED))
            RETURNING media_id, purpose, reason, due_at
            """)
    }
}
