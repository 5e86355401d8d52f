import EventLoop

/// How much waits in a service's outbox, for who watches it: the same for all replicas of the service.
public struct OutboxSight: Sendable, Equatable {
    /// Items that are due and not delivered; no more than ``most`` are counted.
    public var due: Int64 = 0
    /// Since when the one that is due the longest is due. Seconds.
    public var oldestSeconds: Double = 0
    /// Dead letters.
    public var dead: Int64 = 0

    /// As far as what is due is counted, so that looking at a long queue costs little.
    public static let most: Int64 = 10_000

    public init() {}

    /// Looks by the database's clock.
    @Loop public static func look(in database: Database) async throws -> OutboxSight {
        var sight = OutboxSight()
        guard let row = try await database.read(figures, [.integer(most)]).first else { return sight }
        (sight.due, sight.dead) = (try row.integer("due"), try row.integer("dead"))
        sight.oldestSeconds = Double(try row.integer("oldest_ms")) / 1000
        return sight
    }

    private static let figures: Statement = """
        SELECT
            (SELECT count(*) FROM (SELECT 1 FROM outbox
                WHERE dead_at IS NULL AND due_at <= statement_timestamp() LIMIT $1::bigint) AS waiting) AS due,
            (SELECT coalesce(greatest(0, extract(epoch FROM clock_timestamp() - min(due_at)) * 1000), 0)::bigint
                FROM outbox WHERE dead_at IS NULL) AS oldest_ms,
            (SELECT count(*) FROM outbox WHERE dead_at IS NOT NULL) AS dead
        """
}
