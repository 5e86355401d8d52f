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

    /// Takes some pictures that are due. They are due again in a minute.
    func take(atMost limit: Int) async throws -> [Picture] {
        try await database.write(Self.take, [.integer(Int64(limit))]).map(Picture.init)
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
    /// All rows get the same time.
    private static let take: Statement = """
        UPDATE destructions SET due_at = now() + interval '1 minute' WHERE media_id = ANY(ARRAY(
            SELECT media_id FROM destructions WHERE due_at <= now()
            ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED))
        RETURNING media_id, purpose, reason, due_at
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
}
