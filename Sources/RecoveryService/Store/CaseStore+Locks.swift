import BusProtocol
import Database
import EventLoop

/// Recovery locks: a row for each account that has a lock, or had one until its end time.
extension CaseStore {
    static func lock(of person: Identifier, in database: Database) async throws -> RecoveryLockState {
        try state(try await database.read(select, [.uuid(person)])).lock
    }

    /// Takes the person's advisory lock until the transaction ends. It also returns the database's time.
    static func lock(
        of person: Identifier, in transaction: Transaction
    ) async throws -> (lock: RecoveryLockState, now: Timestamp) {
        Erasure.wait(for: person, in: transaction)
        return try state(try await transaction.query(select, [.uuid(person)]))
    }

    /// - Returns: false if the person is erased.
    static func set(
        _ lock: RecoveryLockState, of person: Identifier, in transaction: Transaction
    ) async throws -> Bool {
        try await !transaction.query(set, [.uuid(person), .timestamp(lock.endsAt)]).isEmpty
    }

    private static func state(_ rows: [Row]) throws -> (lock: RecoveryLockState, now: Timestamp) {
        guard let row = rows.first else { throw DatabaseError.aborted }
        let now = try row.timestamp("now")
        guard try row.bool("is_on") else { return (.off, now) }
        return (try row.optionalTimestamp("ends_at").map { .ending($0) } ?? .on, now)
    }

    /// SQL for a lock that has not ended.
    static let isOn = "(ends_at IS NULL OR ends_at > clock_timestamp())"
    private static let select = Statement(
        """
        SELECT clock_timestamp() AS now, l.person_id IS NOT NULL AS is_on, l.ends_at
        FROM (VALUES (1)) AS one LEFT JOIN locks l ON l.person_id = $1 AND \(isOn)
        """)
    private static let set = Statement(
        """
        INSERT INTO locks (person_id, ends_at) SELECT $1, $2 WHERE NOT is_erased($1)
        ON CONFLICT (person_id) DO UPDATE SET ends_at = excluded.ends_at,
            since = CASE WHEN locks.ends_at <= clock_timestamp() THEN clock_timestamp() ELSE locks.since END
        RETURNING person_id
        """)
}
