import Database
import EventLoop

/// Closes prefixes to strangers for an hour.
@Loop final class PrefixBreakerStore {
    private var breaker = PrefixBreaker()

    nonisolated init() {}

    /// Closes a prefix for an hour if two things hold. At least `numbers` of its numbers got codes within an hour, and
    /// under a tenth of these numbers were verified. The code that is being sent counts too.
    func close(_ prefix: [UInt8], from numbers: Int64, in transaction: Transaction) {
        guard breaker.mustCount(prefix, now: MonotonicClock.now()) else { return }
        transaction.send(Self.close, [.bytes(prefix), .integer(numbers)]) { [weak self] rows throws(DatabaseError) in
            guard let row = rows.first else { return }
            let count = PrefixBreaker.Count(asked: try row.integer("asked"), verified: try row.integer("verified"))
            self?.breaker.note(count, of: prefix, now: MonotonicClock.now())
        }
    }

    /// The number of closed prefixes, to which strangers get no codes.
    static func closed(in database: Database) async throws -> Int64 {
        try await database.read("SELECT count(*) AS count FROM prefix_breakers WHERE until > now()").first?
            .integer("count") ?? 0
    }

    private static let close: Statement = """
        WITH counted AS (
            SELECT count(*) AS asked, count(*) FILTER (WHERE is_verified) AS verified
            FROM (
                SELECT bool_or(state = 'used') AS is_verified FROM challenges
                WHERE prefix_hash = $1 AND created_at > now() - interval '1 hour' AND state <> 'undelivered'
                GROUP BY phone_hash
            ) AS numbers
        ), closed AS (
            INSERT INTO prefix_breakers (prefix_hash, until)
            SELECT $1, clock_timestamp() + interval '1 hour' FROM counted WHERE asked >= $2 AND verified * 10 < asked
            ON CONFLICT (prefix_hash) DO UPDATE SET until = excluded.until
        )
        SELECT asked, verified FROM counted
        """
}
