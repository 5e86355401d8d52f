import BusProtocol
import Database
import EventLoop
import JSONText

/// Counts the choices in the newest visual sessions of a stimulus set.
@Loop struct StatisticsStore {
    let database: Database

    /// Nobody may see them before ``StimulusStatistics/suppressingSmallCounts``.
    func statistics(of set: StimulusSet) async throws -> StimulusStatistics {
        let (totals, items) = try await database.transaction { transaction in
            (
                try await transaction.query(Self.totals, [.integer(set.version)]).first,
                try await transaction.query(Self.items, [.integer(set.version)])
            )
        }
        guard let totals else { throw DatabaseError.aborted }
        var counts: [String: (shown: Int64, chosen: Int64)] = [:]
        for row in items { counts[try row.text("item")] = (try row.integer("shown"), try row.integer("chosen")) }
        return StimulusStatistics(
            version: set.version, licence: set.licence, sessions: try totals.integer("sessions"),
            statuses: try Self.counts(totals, "statuses"), flags: try Self.counts(totals, "flags"),
            answered: try totals.integer("answered"), left: try totals.integer("on_the_left"),
            neither: try totals.integer("neither"), checks: try totals.integer("checks"),
            checksHeld: try totals.integer("held"), medianMs: try totals.optionalDouble("median_ms"),
            items: set.items.map {
                StimulusItemStatistics(
                    id: $0.id, shown: counts[$0.id]?.shown ?? 0, chosen: counts[$0.id]?.chosen ?? 0)
            })
    }

    private static func counts(_ row: Row, _ column: String) throws -> [String: Int64] {
        try (JSONValue.parse(row.json(column)).objectValue ?? [:]).compactMapValues(\.integerValue)
    }

    /// The IDs of sessions grow with time.
    private static let newest = """
        newest AS MATERIALIZED (
            SELECT person_id, status, flags FROM visual_preference_profiles WHERE set_version = $1
            ORDER BY session_id DESC LIMIT 5000),
        choices AS MATERIALIZED (
            SELECT left_item, right_item, choice, expected, latency_ms FROM presentations JOIN newest USING (person_id)
            WHERE choice IS NOT NULL)
        """
    private static let totals = Statement(
        """
        WITH \(newest)
        SELECT (SELECT count(*) FROM newest) AS sessions, (
                SELECT coalesce(jsonb_object_agg(status, count), '{}')
                FROM (SELECT status, count(*) FROM newest GROUP BY status) AS each) AS statuses, (
                SELECT coalesce(jsonb_object_agg(flag, count), '{}')
                FROM (SELECT flag, count(*) FROM newest, unnest(flags) AS flag GROUP BY flag) AS each) AS flags,
            count(*) AS answered, count(*) FILTER (WHERE choice = 'left') AS on_the_left,
            count(*) FILTER (WHERE choice = 'neither') AS neither, count(expected) AS checks,
            count(*) FILTER (WHERE expected = choice) AS held,
            percentile_cont(0.5) WITHIN GROUP (ORDER BY latency_ms) AS median_ms
        FROM choices
        """)
    private static let items = Statement(
        """
        WITH \(newest)
        SELECT item, count(*) AS shown, count(*) FILTER (WHERE choice = side) AS chosen
        FROM choices, LATERAL (VALUES (left_item, 'left'), (right_item, 'right')) AS shown (item, side) GROUP BY item
        """)
}
