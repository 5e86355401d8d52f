import Database
import EventLoop

/// Counts the codes that are sent within an hour of the clock. A scope is all SMS, those to one country, or email. Each
/// scope is counted in several rows, so that sends do not wait for each other.
@Loop enum SMSBudgetStore {
    private static let shards: Int64 = 16

    /// Counts a code: an SMS in the scope of all and in that of its country, an email in its own.
    ///
    /// - Parameter country: the number's, ISO 3166-1 alpha-2; `nil` for an email.
    static func take(country: String?, in transaction: Transaction) {
        let scopes = country.map { [SMSBudget.all, $0] } ?? [SMSBudget.emails]
        transaction.send(take, [.textArray(scopes), .integer(.random(in: 0..<shards))])
    }

    /// The codes sent in this hour, by scope.
    static func used(in database: Database) async throws -> [String: Int64] {
        try await database.read(used).reduce(into: [:]) { $0[try $1.text("scope")] = try $1.integer("used") }
    }

    /// The row of all codes is always locked first, to avoid deadlocks.
    private static let take: Statement = """
        INSERT INTO sms_budget AS b (scope, hour, shard, used)
        SELECT scope, date_trunc('hour', clock_timestamp(), 'UTC'), $2::bigint, 1
        FROM unnest($1::text[]) WITH ORDINALITY AS s (scope, place) ORDER BY place
        ON CONFLICT (scope, hour, shard) DO UPDATE SET used = b.used + 1
        """
    private static let used: Statement = """
        SELECT scope, sum(used)::bigint AS used FROM sms_budget
        WHERE hour = date_trunc('hour', now(), 'UTC') GROUP BY scope
        """
}
