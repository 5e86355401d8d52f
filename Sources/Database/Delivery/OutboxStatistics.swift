import EventLoop

/// Statistics of a service's outbox. All replicas of the service have the same.
package struct OutboxStatistics: Sendable, Equatable {
    /// The due items; at most ``most`` are counted.
    package var due: Int64 = 0
    /// The longest wait in seconds. An event counts from its creation, even after failed attempts. Other items count
    /// from when they were due, or from their creation if no replica knows their type. Items behind a dead letter do
    /// not count, because they wait for an operator.
    package var oldestSeconds: Double = 0
    /// The number of dead letters.
    package var dead: Int64 = 0

    /// The most items that are counted, so that a long queue costs little.
    package static let most: Int64 = 10_000

    /// Makes the statistics of an empty outbox.
    package init() {}

    /// Reads the statistics by the database's clock.
    @Loop package static func look(in database: Database) async throws -> OutboxStatistics {
        var statistics = OutboxStatistics()
        guard let row = try await database.read(figures, [.integer(most)]).first else { return statistics }
        (statistics.due, statistics.dead) = (try row.integer("due"), try row.integer("dead"))
        statistics.oldestSeconds = Double(try row.integer("oldest_ms")) / 1000
        return statistics
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
