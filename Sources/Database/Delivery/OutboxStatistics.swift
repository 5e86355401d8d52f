import EventLoop

/// How much waits in a service's outbox, for who watches it: the same for all replicas of the service.
public struct OutboxStatistics: Sendable, Equatable {
    /// Items that are due and not delivered; no more than ``most`` are counted.
    public var due: Int64 = 0
    /// For how long an event was told in vain by now, however often it was tried, and anything else is due, or known to no
    /// replica since it was made. Seconds, of what waits the longest; what stands behind a dead letter waits for an operator
    /// and does not count.
    public var oldestSeconds: Double = 0
    /// Dead letters.
    public var dead: Int64 = 0

    /// As far as what is due is counted, so that looking at a long queue costs little.
    public static let most: Int64 = 10_000

    public init() {}

    /// Looks by the database's clock.
    @Loop public static func look(in database: Database) async throws -> OutboxStatistics {
        var sight = OutboxStatistics()
        guard let row = try await database.read(figures, [.integer(most)]).first else { return sight }
        (sight.due, sight.dead) = (try row.integer("due"), try row.integer("dead"))
        sight.oldestSeconds = Double(try row.integer("oldest_ms")) / 1000
        return sight
    }

    private static let figures: Statement = """
        SELECT
            (SELECT count(*) FROM (SELECT 1 FROM outbox
                WHERE dead_at IS NULL AND due_at <= statement_timestamp() LIMIT $1::bigint) AS waiting) AS due,
            (SELECT coalesce(greatest(0, extract(epoch FROM clock_timestamp() - min(since)) * 1000), 0)::bigint
                FROM (SELECT CASE WHEN o.message_type IS NULL AND o.last_error IS DISTINCT FROM 'unknown_message'
                    THEN o.due_at ELSE o.created_at END AS since
                    FROM outbox o
                    -- An event is tried again within 60 s, give or take a fifth.
                    WHERE o.dead_at IS NULL AND o.due_at <= statement_timestamp() + interval '75 s' AND NOT EXISTS (
                        SELECT 1 FROM outbox d WHERE d.dead_at IS NOT NULL AND d.destination = o.destination
                            AND d.person_id = o.person_id)
                    ORDER BY o.due_at LIMIT $1::bigint) AS waiting) AS oldest_ms,
            (SELECT count(*) FROM outbox WHERE dead_at IS NOT NULL) AS dead
        """
}
