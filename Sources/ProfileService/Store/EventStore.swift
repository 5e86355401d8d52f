import BusProtocol
import Database
import EventLoop
import JSONText

/// Stores the onboarding events of people and visitors.
struct EventStore: Sendable {
    let database: Database

    /// Stores events of a person. An event that is stored already stays as it is.
    @Loop func note(
        _ events: [OnboardingEvent], of person: Identifier, at time: Timestamp? = nil, in transaction: Transaction
    ) {
        guard !events.isEmpty else { return }
        transaction.send(Self.note, [.uuid(person), .textArray(events.map(\.rawValue)), .timestamp(time)])
    }

    /// Stores the events that a client sends about a person.
    ///
    /// - Returns: the number of new events.
    @Loop func record(_ events: [ClientEvent], of person: Identifier) async throws -> Int64 {
        let told = try Self.json(events)
        return try await database.transaction { transaction in
            Erasure.wait(for: person, in: transaction)
            let row = try await transaction.query(Self.recordOfPerson, [.uuid(person), .text(nil), .json(told)]).first
            return try row?.integer("recorded") ?? 0
        }
    }

    /// Stores the events that a client sends about a visitor, in one statement. The events of a new visitor over a
    /// limit are not stored.
    ///
    /// - Parameter address: the client's address.
    /// - Returns: the number of new events, and the reason if none was stored because of a limit.
    @Loop func record(
        _ events: [ClientEvent], ofVisitor visitor: String, from address: String?, _ limits: VisitorLimits
    ) async throws -> (recorded: Int64, refusal: VisitorLimits.Refusal?) {
        let shares = limits.shares(of: address)
        let values: [SQLValue] = [
            .uuid(nil), .text(visitor), .json(try Self.json(events)), .array(shares.map { .bytes($0.key) }),
            .array(shares.map { .integer($0.most) }), .integer(limits.perDay),
        ]
        guard let row = try await database.write(Self.recordOfVisitor, values).first else { return (0, nil) }
        return (try row.integer("recorded"), try row.optionalText("refusal").flatMap { .init(rawValue: $0) })
    }

    private static func json(_ events: [ClientEvent]) throws -> [UInt8] {
        CanonicalJSON.bytes(of: try JSONValue.parse(WireJSON.encode(events)))
    }

    /// Assigns the events of a visitor to the person who the visitor turned out to be.
    @Loop func identify(_ anonymousID: String, as person: Identifier, in transaction: Transaction) {
        transaction.send(Self.identify, [.uuid(person), .text(anonymousID)])
        transaction.send(Self.forget, [.text(anonymousID)])
    }

    @Loop func erase(_ person: Identifier, in transaction: Transaction) {
        transaction.send(Self.erase, [.uuid(person)])
    }

    /// Deletes the events of visitors who have sent nothing for 90 days. It deletes the counts of new visitors after 25
    /// hours. For a visitor who is still active, it deletes openings of the app after 90 days, except the first one. At
    /// a sign-in, the first event of each kind becomes the person's. Events that were assigned to a person stay.
    ///
    /// - Returns: whether there may be more.
    @Loop func purge() async throws -> Bool {
        let page: [SQLValue] = [.integer(Self.page)]
        let (visitors, counts) = (
            try await database.write(Self.purge, page), try await database.write(Self.purgeCounts, page)
        )
        return max(visitors.count, counts.count) == Self.page
    }

    private static let page: Int64 = 1000

    /// The progress of the people and visitors whose first event is within the days, in UTC.
    @Loop static func funnel(from: CivilDate, to: CivilDate, in transaction: Transaction) async throws -> Funnel {
        // The medians sort one number for each person or visitor.
        transaction.send("SET LOCAL work_mem = '64MB'")
        guard let row = try await transaction.query(funnel, [.date(from), .date(to)]).first else {
            throw DatabaseError.aborted
        }
        return Funnel(
            from: from, to: to,
            steps: FunnelStep.steps(
                people: try FunnelStep.allCases.map { try row.integer("reached_\($0.rawValue)") },
                medianSeconds: try FunnelStep.allCases.dropFirst().map {
                    try row.optionalDouble("median_\($0.rawValue)")
                }),
            events: try OnboardingEvent.allCases.map {
                .init(name: $0.rawValue, people: try row.integer("did_\($0.rawValue)"))
            })
    }

    /// Rows are inserted in the order of names, so that two transactions with the same events cannot deadlock.
    private static let note: Statement = """
        INSERT INTO onboarding_events (event_id, person_id, name, at)
        SELECT gen_random_uuid(), $1, name, coalesce($3, clock_timestamp()) FROM unnest($2::text[]) AS name
        WHERE NOT is_erased($1) ORDER BY name
        ON CONFLICT DO NOTHING
        """
    private static let recordOfPerson = Statement(
        "WITH \(telling("NOT is_erased($1)")) SELECT count(*) AS recorded FROM told")
    /// A visitor with stored events is not counted. A request over a limit only reads. Concurrent requests may exceed a
    /// limit by as many as there are connections. The day is counted in 16 rows, so that requests do not all wait for
    /// one.
    private static let recordOfVisitor = Statement(
        """
        WITH visitor AS MATERIALIZED (
            SELECT date_trunc('hour', now()) AS hour, date_trunc('day', now(), 'UTC') AS day,
                EXISTS (SELECT FROM onboarding_events WHERE \(all("anonymous_id", "$2"))) AS is_known
        ), admitted AS MATERIALIZED (
            SELECT is_known, hour, day, CASE
                WHEN is_known THEN NULL
                WHEN EXISTS (
                    SELECT FROM unnest($4::bytea[], $5::bigint[]) AS a (key, most)
                    JOIN visitor_counts c ON c.key = a.key AND c.began = hour WHERE c.taken >= a.most) THEN 'address'
                WHEN (
                    SELECT sum(taken) FROM generate_series(0, 15) AS part
                    JOIN visitor_counts c ON c.key = set_byte('\\x00', 0, part) AND c.began = day) >= $6 THEN 'day'
                END AS refusal
            FROM visitor
        ), counted AS (
            INSERT INTO visitor_counts AS c (key, began, taken)
            SELECT key, began, 1 FROM (
                SELECT key, hour AS began FROM admitted, unnest($4::bytea[]) AS key WHERE NOT is_known AND refusal IS NULL
                UNION ALL
                SELECT set_byte('\\x00', 0, floor(random() * 16)::int), day FROM admitted
                WHERE NOT is_known AND refusal IS NULL
            ) AS new ORDER BY key
            ON CONFLICT (key, began) DO UPDATE SET taken = c.taken + 1
        ), \(telling("(SELECT refusal FROM admitted) IS NULL"))
        SELECT refusal, (SELECT count(*) FROM told) AS recorded FROM admitted
        """)
    /// The common table expression `told`: inserts the new events of `$3`, for the person `$1` or the visitor `$2`.
    private static func telling(_ condition: String) -> String {
        """
        told AS (
            INSERT INTO onboarding_events (event_id, person_id, anonymous_id, name, at, properties)
            SELECT (e ->> 'eventId')::uuid, $1::uuid, $2::text, e ->> 'name',
                greatest(least((e ->> 'at')::timestamptz, clock_timestamp()), clock_timestamp() - interval '30 days'),
                coalesce(e -> 'properties', '{}')
            FROM jsonb_array_elements($3) AS e
            WHERE \(condition)
            ORDER BY e ->> 'name', e ->> 'eventId'
            ON CONFLICT DO NOTHING RETURNING event_id
        )
        """
    }
    static let identify = Statement(
        """
        UPDATE onboarding_events AS e SET person_id = $1, anonymous_id = NULL
        WHERE \(all("anonymous_id", "$2")) AND NOT is_erased($1) AND NOT EXISTS (
            SELECT FROM onboarding_events AS k WHERE (k.person_id = $1 AND k.name <> 'app_opened' AND k.name = e.name)
                OR (k.person_id = $1 AND k.name = 'app_opened' AND e.name = 'app_opened'
                    AND (k.at AT TIME ZONE 'UTC')::date = (e.at AT TIME ZONE 'UTC')::date))
        """)
    static let forget = Statement("DELETE FROM onboarding_events WHERE \(all("anonymous_id", "$1"))")
    static let erase = Statement("DELETE FROM onboarding_events WHERE \(all("person_id", "$1"))")
    /// A condition for all events of a person or visitor. Steps and app openings have separate partial indexes.
    /// PostgreSQL uses them only if the condition names the kind of event.
    static func all(_ column: String, _ value: String) -> String {
        "(\(column) = \(value) AND name <> 'app_opened' OR \(column) = \(value) AND name = 'app_opened')"
    }
    static let purge: Statement = """
        WITH old AS MATERIALIZED (
            SELECT event_id FROM onboarding_events AS e
            WHERE anonymous_id IS NOT NULL AND received_at < now() - interval '90 days' AND (
                name = 'app_opened' AND EXISTS (
                    SELECT FROM onboarding_events AS f
                    WHERE f.anonymous_id = e.anonymous_id AND f.name = 'app_opened'
                        AND (f.at AT TIME ZONE 'UTC')::date < (e.at AT TIME ZONE 'UTC')::date)
                OR NOT EXISTS (
                    SELECT FROM onboarding_events AS l
                    WHERE (l.anonymous_id = e.anonymous_id AND l.name <> 'app_opened'
                            OR l.anonymous_id = e.anonymous_id AND l.name = 'app_opened')
                        AND l.received_at >= clock_timestamp() - interval '90 days'))
            LIMIT $1 FOR UPDATE SKIP LOCKED)
        DELETE FROM onboarding_events WHERE event_id IN (SELECT event_id FROM old) RETURNING event_id
        """
    static let purgeCounts: Statement = """
        WITH old AS MATERIALIZED (
            SELECT key, began FROM visitor_counts WHERE began < now() - interval '25 hours'
            LIMIT $1 FOR UPDATE SKIP LOCKED)
        DELETE FROM visitor_counts c USING old WHERE c.key = old.key AND c.began = old.began RETURNING c.key
        """

    /// One row with the number of people at each step, the median seconds of each step, and the number of people for
    /// each event.
    static let funnel = Statement(
        """
        SELECT \((reached + medians + did).joined(separator: ",\n    ")) FROM journeys
        WHERE began >= $1::date::timestamp AT TIME ZONE 'UTC' AND began < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
        """)
    /// A person who reached a step counts for every step before it.
    private static let reached = FunnelStep.allCases.indices.map { place in
        let events = FunnelStep.allCases[place...].flatMap(\.events).map(\.rawValue).joined(separator: ", ")
        return
            "count(*) FILTER (WHERE coalesce(\(events)) IS NOT NULL) AS reached_\(FunnelStep.allCases[place].rawValue)"
    }
    private static let medians = zip(FunnelStep.allCases, FunnelStep.allCases.dropFirst()).map { before, step in
        let (begin, end) = (time(of: before), time(of: step))
        return """
            percentile_cont(0.5) WITHIN GROUP (ORDER BY date_part('epoch', \(end) - \(begin)))
                FILTER (WHERE \(end) >= \(begin)) AS median_\(step.rawValue)
            """
    }
    private static let did = OnboardingEvent.allCases.map { "count(\($0.rawValue)) AS did_\($0.rawValue)" }

    private static func time(of step: FunnelStep) -> String {
        "least(\(step.events.map(\.rawValue).joined(separator: ", ")))"
    }
}
