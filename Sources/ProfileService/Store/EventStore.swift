import BusProtocol
import Database
import EventLoop
import JSONText

/// What is known of people's and visitors' way through the onboarding.
struct EventStore: Sendable {
    let database: Database

    /// Notes for a person, once each, what was reached.
    @Loop func note(
        _ events: [OnboardingEvent], of person: Identifier, at time: Timestamp? = nil, in transaction: Transaction
    ) {
        guard !events.isEmpty else { return }
        transaction.send(Self.note, [.uuid(person), .textArray(events.map(\.rawValue)), .timestamp(time)])
    }

    /// Takes what a client tells, of a person or of a visitor.
    ///
    /// - Returns: how many were not known.
    @Loop func record(
        _ events: [ClientEvent], person: Identifier?, anonymousID: String?
    ) async throws -> Int64 {
        let told = CanonicalJSON.bytes(of: try JSONValue.parse(WireJSON.encode(events)))
        return try await database.transaction { transaction in
            if let person { Erasure.wait(for: person, in: transaction) }
            let rows = try await transaction.query(
                Self.record, [.uuid(person), .text(person == nil ? anonymousID : nil), .json(told)])
            return Int64(rows.count)
        }
    }

    /// A visitor is this person: what was known of the one is known of the other.
    @Loop func identify(_ anonymousID: String, as person: Identifier, in transaction: Transaction) {
        transaction.send(Self.identify, [.uuid(person), .text(anonymousID)])
        transaction.send(Self.forget, [.text(anonymousID)])
    }

    @Loop func erase(_ person: Identifier, in transaction: Transaction) {
        transaction.send("DELETE FROM onboarding_events WHERE person_id = $1", [.uuid(person)])
    }

    /// Forgets visitors who never signed in.
    ///
    /// - Returns: whether there may be more.
    @Loop func purge() async throws -> Bool {
        let rows = try await database.transaction { try await $0.query(Self.purge, [.integer(Self.page)]) }
        return rows.count == Self.page
    }

    private static let page: Int64 = 1000

    /// How far those came whose first event lies within the days. All events are looked through: not among what people read.
    @Loop func funnel(from: CivilDate, to: CivilDate) async throws -> Funnel {
        let days: [SQLValue] = [.date(from), .date(to)]
        let (furthest, told) = try await database.transaction { transaction in
            (try await transaction.query(Self.funnel, days), try await transaction.query(Self.counts, days))
        }
        var steps: [Funnel.Step] = []
        for row in furthest {
            let people = try row.integer("people")
            steps.append(
                Funnel.Step(
                    key: FunnelStep.allCases[steps.count].rawValue, people: people,
                    dropOffPercent: steps.last.flatMap { FunnelStep.dropOff(from: $0.people, to: people) },
                    medianSeconds: try row.optionalDouble("median")))
        }
        let counts = try told.map {
            Funnel.EventCount(name: try $0.text("name"), people: try $0.integer("people"))
        }
        let known = Dictionary(uniqueKeysWithValues: counts.map { ($0.name, $0.people) })
        return Funnel(
            from: from, to: to, steps: steps,
            events: OnboardingEvent.allCases.map { .init(name: $0.rawValue, people: known[$0.rawValue] ?? 0) })
    }

    /// In the order of the names, so that two that tell of the same steps wait for each other and not in a ring.
    private static let note: Statement = """
        INSERT INTO onboarding_events (event_id, person_id, name, at)
        SELECT gen_random_uuid(), $1, name, coalesce($3, clock_timestamp()) FROM unnest($2::text[]) AS name
        WHERE NOT is_erased($1) ORDER BY name
        ON CONFLICT DO NOTHING
        """
    private static let record: Statement = """
        INSERT INTO onboarding_events (event_id, person_id, anonymous_id, name, at, properties)
        SELECT (e ->> 'eventId')::uuid, $1, $2, e ->> 'name',
            greatest(least((e ->> 'at')::timestamptz, clock_timestamp()), clock_timestamp() - interval '30 days'),
            coalesce(e -> 'properties', '{}')
        FROM jsonb_array_elements($3) AS e
        WHERE $1 IS NULL OR NOT is_erased($1)
        ORDER BY e ->> 'name', e ->> 'eventId'
        ON CONFLICT DO NOTHING RETURNING event_id
        """
    private static let identify: Statement = """
        UPDATE onboarding_events AS e SET person_id = $1, anonymous_id = NULL
        WHERE anonymous_id = $2 AND NOT is_erased($1) AND NOT EXISTS (
            SELECT FROM onboarding_events AS k WHERE k.person_id = $1 AND k.name = e.name
                AND (k.name <> 'app_opened' OR (k.at AT TIME ZONE 'UTC')::date = (e.at AT TIME ZONE 'UTC')::date))
        """
    private static let forget: Statement = "DELETE FROM onboarding_events WHERE anonymous_id = $1"
    private static let purge: Statement = """
        WITH old AS MATERIALIZED (
            SELECT event_id FROM onboarding_events
            WHERE anonymous_id IS NOT NULL AND received_at < clock_timestamp() - interval '90 days'
            LIMIT $1 FOR UPDATE SKIP LOCKED)
        DELETE FROM onboarding_events WHERE event_id IN (SELECT event_id FROM old) RETURNING event_id
        """

    /// One row for each person or visitor who began within the days.
    private static let cohort = """
        SELECT coalesce(person_id::text, 'visitor ' || anonymous_id) AS subject, \(times) AS times, array_agg(name) AS names
        FROM onboarding_events GROUP BY 1
        HAVING min(at) >= $1::date::timestamp AT TIME ZONE 'UTC'
            AND min(at) < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'
        """
    private static let times =
        "ARRAY["
        + FunnelStep.allCases.map { step in
            "min(at) FILTER (WHERE name IN (\(step.events.map { "'\($0.rawValue)'" }.joined(separator: ", "))))"
        }.joined(separator: ", ") + "]"
    private static let funnel = Statement(
        """
        WITH cohort AS (\(cohort)), far AS (
            SELECT times, (SELECT max(step) FROM generate_subscripts(times, 1) AS step WHERE times[step] IS NOT NULL)
                AS furthest
            FROM cohort)
        SELECT step, count(*) FILTER (WHERE furthest >= step) AS people,
            percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM times[step] - times[step - 1])::float8)
                FILTER (WHERE times[step] >= times[step - 1]) AS median
        FROM generate_series(1, \(FunnelStep.allCases.count)) AS step LEFT JOIN far ON true
        GROUP BY step ORDER BY step
        """)
    private static let counts = Statement(
        """
        SELECT name, count(*) AS people FROM (
            SELECT DISTINCT subject, unnest(names) AS name FROM (\(cohort)) AS cohort) AS told
        GROUP BY name
        """)
}
