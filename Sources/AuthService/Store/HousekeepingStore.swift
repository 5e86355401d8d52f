import Database
import EventLoop

/// Deletes rows and sealed replies that are no longer needed.
@Loop enum HousekeepingStore {
    /// The most rows of one statement, so that none takes long. Statements on small tables have no limit.
    nonisolated static let batch = 1000

    /// Runs one of the statements.
    ///
    /// - Returns: how many rows it deleted or changed.
    static func run(_ statement: Statement, in database: Database) async throws -> Int {
        Int(try await database.write(statement).first?.integer("hit") ?? 0)
    }

    /// - Parameter change: deletes or changes rows, at most a thousand of a large table. If rows may be renewed, it looks at
    ///   them again outside of its subquery, which is not read again behind a wait.
    private static func counted(_ change: String) -> Statement {
        Statement("WITH hit AS (\(change) RETURNING 1) SELECT count(*) AS hit FROM hit")
    }

    /// Rows that refer to others go before them.
    static let statements: [Statement] = [
        // The limits look back a day and 15 minutes.
        counted(
            """
            DELETE FROM challenges WHERE id IN (
                SELECT id FROM challenges WHERE created_at < now() - interval '25 hours' LIMIT 1000)
            """),
        counted(
            """
            DELETE FROM challenge_locks WHERE (phone_hash, asker) IN (
                SELECT phone_hash, asker FROM challenge_locks WHERE until < now() LIMIT 1000)
                AND until < now()
            """),
        counted("DELETE FROM prefix_breakers WHERE until < now()"),
        counted(
            """
            DELETE FROM sms_budget WHERE (scope, hour, shard) IN (
                SELECT scope, hour, shard FROM sms_budget WHERE hour < now() - interval '2 hours' LIMIT 1000)
            """),
        counted("DELETE FROM role_proposals WHERE until < now()"),
        counted(
            """
            DELETE FROM social_nonces WHERE hash IN (SELECT hash FROM social_nonces WHERE expires_at < now() LIMIT 1000)
            """),
        counted(
            "DELETE FROM link_tokens WHERE hash IN (SELECT hash FROM link_tokens WHERE expires_at < now() LIMIT 1000)"),
        counted(
            """
            DELETE FROM phone_aliases WHERE (person_id, hash) IN (
                SELECT person_id, hash FROM phone_aliases WHERE until < now() LIMIT 1000)
                AND until < now()
            """),
        counted(
            """
            DELETE FROM apple_notifications WHERE hash IN (
                SELECT hash FROM apple_notifications WHERE forget_at < now() LIMIT 1000)
            """),
        counted("DELETE FROM revocations WHERE id IN (SELECT id FROM revocations WHERE forget_at < now() LIMIT 1000)"),
        // While a session is alive, its old tokens are kept, so that a reuse is recognised. The row of an ended session
        // is deleted after the last of its tokens.
        counted(
            """
            DELETE FROM refresh_tokens WHERE hash IN (
                SELECT t.hash FROM sessions s JOIN refresh_tokens t ON t.session_id = s.id
                WHERE s.revoked_at < now() - interval '1 day' LIMIT 1000)
            """),
        """
        WITH gone AS (
            DELETE FROM sessions WHERE id IN (
                SELECT s.id FROM sessions s WHERE s.revoked_at < now() - interval '1 day'
                    AND NOT EXISTS (SELECT FROM refresh_tokens t WHERE t.session_id = s.id) LIMIT 1000)
            RETURNING device_id, last_used_at
        ), used AS (
            UPDATE devices d SET last_used_at = g.last_used_at
            FROM (SELECT device_id, max(last_used_at) AS last_used_at FROM gone GROUP BY device_id) g
            WHERE d.id = g.device_id AND d.last_used_at < g.last_used_at
        )
        SELECT count(*) AS hit FROM gone
        """,
        counted(
            """
            DELETE FROM replaced_push_tokens WHERE id IN (
                SELECT id FROM replaced_push_tokens WHERE replaced_at < now() - interval '30 days' LIMIT 1000)
            """),
        // The sessions of a removed device ended with it. Their rows are deleted long before.
        counted(
            """
            DELETE FROM devices WHERE id IN (
                SELECT d.id FROM devices d WHERE d.removed_at < now() - interval '30 days' AND NOT EXISTS (
                    SELECT FROM sessions s WHERE s.person_id = d.person_id AND s.device_id = d.id) LIMIT 1000)
            """),
        // Recovery asks about a case only while it closes the case, never this long after.
        counted(
            """
            DELETE FROM freezes WHERE case_id IN (
                SELECT case_id FROM freezes WHERE until < now() - interval '30 days' LIMIT 1000)
            """),
        counted(
            """
            UPDATE refresh_tokens SET answer_sealed = NULL WHERE hash = ANY (ARRAY(
                SELECT hash FROM refresh_tokens
                WHERE answer_sealed IS NOT NULL AND replaced_at < now() - interval '1 minute' LIMIT 1000))
                AND replaced_at < now() - interval '1 minute'
            """),
    ]
}
