import EventLoop
import Values

/// The facts about a dead letter that an operator may see: its type, destination and person, but never its content.
package struct DeadLetter: Sendable, Equatable {
    /// The ID of the outbox item.
    package let id: Identifier
    /// The receiving service, or the name of a deliverer of the service itself: `sms`, `timer:hold-ended`.
    package let destination: String
    /// The type of the message; `nil` if the item is no message on the bus.
    package let messageType: MessageType?
    /// The version of the message's shape.
    package let messageVersion: Int64
    /// The person that the item is about; `nil` if it is about nobody.
    package let personID: Identifier?
    /// Its number among the events about the person; `nil` if it is about nobody.
    package let personSequence: Int64?
    /// The number of attempts.
    package let attempts: Int64
    /// When the item was written.
    package let createdAt: Timestamp
    /// When the item became a dead letter.
    package let deadAt: Timestamp
    /// The error code of the last attempt; `nil` if a release that stored no code gave up.
    package let lastError: String?
    /// The number of later items for the same person and destination that it blocks.
    package let waiting: Int64

    init(_ row: Row) throws(DatabaseError) {
        id = try row.uuid("id")
        destination = try row.text("destination")
        messageType = try row.optionalText("message_type").map { MessageType(rawValue: $0) }
        messageVersion = try row.integer("message_version")
        personID = try row.optionalUUID("person_id")
        personSequence = try row.optionalInteger("person_sequence")
        attempts = try row.integer("attempts")
        createdAt = try row.timestamp("created_at")
        deadAt = try row.timestamp("dead_at")
        lastError = try row.optionalText("last_error")
        waiting = try row.integer("waiting")
    }
}

/// The operations on dead letters for an operator. They need only the tables. No replica has to run, and they decrypt
/// nothing.
@Loop package struct DeadLetters {
    private let database: Database

    /// Takes the database.
    package init(database: Database) { self.database = database }

    /// All dead letters, the oldest first.
    package func list() async throws -> [DeadLetter] {
        try await database.read(Self.list).map { row throws(DatabaseError) in try DeadLetter(row) }
    }

    /// Replays dead letters. Items that a dead letter blocked are delivered after it.
    ///
    /// - Parameter ids: `nil` for all.
    /// - Returns: the IDs of the items that were dead letters until now.
    package func replay(_ ids: [Identifier]?) async throws -> [Identifier] {
        let rows = try await database.write(
            Self.replay, [.textArray((ids ?? []).map(\.description)), .bool(ids == nil)])
        return try rows.map { row throws(DatabaseError) in try row.uuid("id") }
    }

    private static let list: Statement = """
        SELECT d.id, d.destination, d.message_type, d.message_version, d.person_id, d.person_sequence, d.attempts,
            d.created_at, d.dead_at, d.last_error,
            (SELECT count(*) FROM outbox w WHERE w.destination = d.destination AND w.person_id = d.person_id
                AND w.person_sequence > d.person_sequence) AS waiting
        FROM outbox d WHERE d.dead_at IS NOT NULL ORDER BY d.dead_at, d.id
        """
    private static let replay: Statement = """
        WITH replayed AS (
            UPDATE outbox SET dead_at = NULL, attempts = 0, due_at = clock_timestamp()
            WHERE dead_at IS NOT NULL AND ($2 OR id = ANY($1::uuid[]))
            RETURNING id
        )
        SELECT id, audit_append('service', 'dead_letter_replayed', '{"letter":"' || id || '"}') FROM (
            SELECT id FROM replayed ORDER BY id) AS letters
        """
}
