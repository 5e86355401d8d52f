import BusProtocol
import Database
import EventLoop

/// Stores when people did the steps of the plans that they follow, and counts them.
@Loop enum PlanProgressStore {
    /// Stores a person's new progress. Rows that are stored already stay as they are.
    static func note(_ news: PlanProgress, of person: Identifier, in transaction: Transaction) {
        transaction.send(
            note,
            [
                .uuid(person), .text(news.plan.key), .integer(news.plan.version), .textArray(news.steps),
                .bool(news.isComplete),
            ])
    }

    /// Moves a person to another version of the plan that the person follows in an app. The profile is locked.
    ///
    /// - Parameter isComplete: whether a former completion counts for that version.
    static func move(
        _ person: Identifier, to progress: PlanProgress, in app: String, isComplete: Bool, in transaction: Transaction
    ) {
        transaction.send(move, [.uuid(person), .text(app), .integer(progress.plan.version), .bool(isComplete)])
        note(progress, of: person, in: transaction)
    }

    /// The progress of the people who began with a version of a plan within the days, in UTC.
    ///
    /// - Parameter entry: counts only the people who came by this entry; `nil` counts everybody.
    static func funnel(
        of plan: Plan, from: CivilDate, to: CivilDate, entry: String?, in transaction: Transaction
    ) async throws -> Funnel {
        let cohort: [SQLValue] = [
            .text(plan.reference.key), .integer(plan.reference.version), .date(from), .date(to), .text(entry),
        ]
        // The medians sort one number for each person.
        transaction.send("SET LOCAL work_mem = '64MB'")
        let keys = plan.steps.map { SQLValue.text($0.key) }
        guard let row = try await transaction.query(counts(of: plan.steps), cohort + keys).first else {
            throw DatabaseError.aborted
        }
        let people = try row.integer("people")
        let steps = try plan.steps.indices.map { place in
            PlanFunnel.StepCount(
                people: try row.integer("did_\(place)"), reached: try row.integer("reached_\(place)"),
                passed: try row.integer("passed_\(place)"), medianSeconds: try row.optionalDouble("median_\(place)"))
        }
        let entries = try await transaction.query(Self.entries, cohort)
        return Funnel(
            from: from, to: to, steps: PlanFunnel.steps(of: plan, people: people, steps), events: [],
            plan: PlanVersion(key: plan.reference.key, version: plan.reference.version),
            total: .init(
                people: people, completed: try row.integer("completed"), withinDayPercent: try withinDay(row),
                medianSeconds: try row.optionalDouble("median"), p90Seconds: try row.optionalDouble("p90")),
            entries: try entries.map {
                Funnel.Entry(
                    entry: try $0.optionalText("entry"), people: try $0.integer("people"),
                    completed: try $0.integer("completed"), withinDayPercent: try withinDay($0))
            })
    }

    private static func withinDay(_ row: Row) throws -> Double? {
        PlanFunnel.share(try row.integer("within_day"), of: try row.integer("settled"))
    }

    private static let move: Statement = """
        WITH moved AS (
            UPDATE person_plans SET version = $3, completed_at = CASE WHEN $4 THEN completed_at END
            WHERE person_id = $1 AND app = $2)
        UPDATE profiles SET revision = revision + 1, updated_at = clock_timestamp() WHERE person_id = $1
        """
    private static let note: Statement = """
        UPDATE person_plans SET
            steps = coalesce((
                SELECT jsonb_object_agg(
                    key, greatest(floor(date_part('epoch', clock_timestamp() - began_at)), 0)::bigint)
                FROM unnest($4::text[]) AS key), '{}') || steps,
            completed_at = CASE WHEN $5 THEN coalesce(completed_at, clock_timestamp()) ELSE completed_at END
        WHERE person_id = $1 AND plan = $2 AND version = $3
        """

    /// People who began less than a day ago are not counted for `within_day`, since they may still complete within it.
    private static let totals = """
        count(*) AS people, count(total) AS completed,
            count(*) FILTER (WHERE began_at <= clock_timestamp() - interval '24 hours') AS settled,
            count(*) FILTER (WHERE began_at <= clock_timestamp() - interval '24 hours' AND total <= 86400) AS within_day
        """
    private static let cohort = """
        FROM person_plans
            WHERE plan = $1 AND version = $2 AND began_at >= $3::date::timestamp AT TIME ZONE 'UTC'
                AND began_at < ($4::date + 1)::timestamp AT TIME ZONE 'UTC' AND ($5::text IS NULL OR entry = $5)
        """
    private static let total = "date_part('epoch', completed_at - began_at) AS total"

    static let entries = Statement(
        """
        SELECT entry, \(totals) FROM (SELECT entry, began_at, \(total) \(cohort)) AS c
        GROUP BY entry ORDER BY people DESC, entry LIMIT 1001
        """)

    /// One row with the counts of each step. A step is timed from the required step before it, or from the beginning.
    static func counts(of steps: [Plan.Step]) -> Statement {
        var (required, before): ([String], String) = ([], "0")
        var columns: [String] = []
        for (place, step) in steps.enumerated() {
            let time = "s\(place)"
            let reached = required.isEmpty ? "true" : required.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
            columns += [
                "count(\(time)) AS did_\(place)", "count(*) FILTER (WHERE \(reached)) AS reached_\(place)",
                "count(\(time)) FILTER (WHERE \(reached)) AS passed_\(place)",
                """
                percentile_cont(0.5) WITHIN GROUP (ORDER BY \(time) - \(before))
                    FILTER (WHERE \(time) >= \(before)) AS median_\(place)
                """,
            ]
            guard step.need == .required else { continue }
            required.append(time)
            before = time
        }
        let times = steps.indices.map { "(steps ->> $\($0 + 6))::float8 AS s\($0)" }
        return Statement(
            """
            WITH c AS MATERIALIZED (
                SELECT began_at, \(([total] + times).joined(separator: ", ")) \(cohort)
            )
            SELECT \(totals), percentile_cont(0.5) WITHIN GROUP (ORDER BY total) AS median,
                percentile_cont(0.9) WITHIN GROUP (ORDER BY total) AS p90,
                \(columns.joined(separator: ",\n    "))
            FROM c
            """)
    }
}
