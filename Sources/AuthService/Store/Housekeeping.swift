import Database
import EventLoop

/// Ends sessions that are over by their age, and removes rows that nothing asks for any more, a thousand at a time.
@Loop enum Housekeeping {
    /// As many as one statement takes, so that none is long.
    private static let batch = 1000
    /// A pass goes on with a statement so often at the most; what is left is removed in the next.
    private static let rounds = 100

    /// One pass.
    static func run(_ database: Database, audit: AuditTrail) async throws {
        try await exhaust { try await Int64(SessionStore.endOverdue(in: database, audit: audit)) }
        for statement in statements {
            try await exhaust { try await database.write(statement).first?.integer("hit") ?? 0 }
        }
    }

    private static func exhaust(_ step: @Loop () async throws -> Int64) async throws {
        for _ in 0..<rounds { guard try await step() == batch else { return } }
    }

    /// - Parameter change: removes or changes a thousand rows at the most.
    private static func counted(_ change: String) -> Statement {
        Statement("WITH hit AS (\(change) RETURNING 1) SELECT count(*) AS hit FROM hit")
    }

    private static let statements: [Statement] = [
        // The limits look back a day.
        counted(
            """
            DELETE FROM challenges WHERE id IN (
                SELECT id FROM challenges WHERE created_at < now() - interval '25 hours' LIMIT 1000)
            """),
        counted(
            """
            DELETE FROM challenge_locks WHERE (phone_hash, asker) IN (
                SELECT phone_hash, asker FROM challenge_locks WHERE until < now() LIMIT 1000)
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
            """),
        counted(
            """
            DELETE FROM apple_notifications WHERE hash IN (
                SELECT hash FROM apple_notifications WHERE forget_at < now() LIMIT 1000)
            """),
        counted("DELETE FROM revocations WHERE id IN (SELECT id FROM revocations WHERE forget_at < now() LIMIT 1000)"),
        // An old token must be known to be recognised when it is used again; of an ended session nothing is. Its row goes
        // with the last of its tokens.
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
        // Its sessions ended with it, and are gone long before.
        counted(
            """
            DELETE FROM devices WHERE id IN (
                SELECT d.id FROM devices d WHERE d.removed_at < now() - interval '30 days' AND NOT EXISTS (
                    SELECT FROM sessions s WHERE s.person_id = d.person_id AND s.device_id = d.id) LIMIT 1000)
            """),
        // Recovery asks of a case while it closes it, and of none that was over so long ago.
        counted(
            """
            DELETE FROM freezes WHERE case_id IN (
                SELECT case_id FROM freezes WHERE until < now() - interval '30 days' LIMIT 1000)
            """),
        counted(
            """
            UPDATE refresh_tokens SET answer_sealed = NULL WHERE hash IN (
                SELECT hash FROM refresh_tokens
                WHERE answer_sealed IS NOT NULL AND replaced_at < now() - interval '1 minute' LIMIT 1000)
            """),
    ]
}
