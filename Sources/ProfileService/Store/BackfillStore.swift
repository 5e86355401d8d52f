import BusProtocol
import Database
import EventLoop

/// Sets the onboarding of many people to complete.
@Loop enum BackfillStore {
    /// - Returns: the counts, and the people who were set.
    static func complete(
        _ people: [Identifier], in transaction: Transaction
    ) async throws -> (OnboardingBackfilled, done: [Identifier]) {
        var backfilled = OnboardingBackfilled(done: 0, already: 0, unknown: [])
        var done: [Identifier] = []
        for row in try await transaction.query(complete, [.uuidArray(people)]) {
            if try row.bool("is_done") {
                backfilled.done += 1
                done.append(try row.uuid("id"))
            } else if try row.bool("is_known") {
                backfilled.already += 1
            } else {
                backfilled.unknown.append(try row.uuid("id"))
            }
        }
        return (backfilled, done)
    }

    /// Profiles are locked in the order of their ids, so that two calls for the same people cannot deadlock.
    private static let complete: Statement = """
        WITH asked AS (
            SELECT DISTINCT id FROM unnest($1) AS id
        ), due AS MATERIALIZED (
            SELECT person_id FROM profiles WHERE person_id = ANY ($1) AND onboarding_backfilled_at IS NULL
            ORDER BY person_id FOR UPDATE
        ), done AS (
            UPDATE profiles p SET onboarding_backfilled_at = clock_timestamp(), revision = revision + 1,
                updated_at = clock_timestamp()
            FROM due WHERE p.person_id = due.person_id RETURNING p.person_id
        )
        SELECT a.id, p.person_id IS NOT NULL AS is_known, d.person_id IS NOT NULL AS is_done
        FROM asked a LEFT JOIN profiles p ON p.person_id = a.id LEFT JOIN done d ON d.person_id = a.id
        ORDER BY a.id
        """
}
