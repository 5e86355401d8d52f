import Database
import EventLoop

/// Rows of the codes that leave in an hour of the clock. A scope is all of them, or a country; each is counted in several rows,
/// so that sends do not wait for each other.
@Loop enum SMSBudgetStore {
    private static let shards: Int64 = 16

    /// Counts a code that leaves, in all and to its country.
    static func take(country: String, in transaction: Transaction) {
        transaction.send(take, [.text(country), .integer(.random(in: 0..<shards))])
    }

    /// Codes that left in this hour, by scope.
    static func used(in database: Database) async throws -> [String: Int64] {
        try await database.read(used).reduce(into: [:]) { $0[try $1.text("scope")] = try $1.integer("used") }
    }

    /// Prefixes that strangers get no code for.
    static func closedPrefixes(in database: Database) async throws -> Int64 {
        try await database.read("SELECT count(*) AS count FROM prefix_breakers WHERE until > now()").first?
            .integer("count") ?? 0
    }

    /// Everybody takes the row of all codes first, so that no two wait for each other.
    private static let take: Statement = """
        INSERT INTO sms_budget AS b (scope, hour, shard, used) VALUES
            ('', date_trunc('hour', clock_timestamp(), 'UTC'), $2::bigint, 1),
            ($1, date_trunc('hour', clock_timestamp(), 'UTC'), $2::bigint, 1)
        ON CONFLICT (scope, hour, shard) DO UPDATE SET used = b.used + 1
        """
    private static let used: Statement = """
        SELECT scope, sum(used)::bigint AS used FROM sms_budget WHERE hour = date_trunc('hour', now(), 'UTC') GROUP BY scope
        """
}
