import BusProtocol
import Database
import EventLoop

/// The delivery states of codes.
@Loop enum CodeStateStore {
    /// `nil` if there is no such challenge or it was deleted.
    static func read(_ id: Identifier, in database: Database) async throws -> CodeState? {
        try await database.read(select, [.uuid(id)]).first.map {
            CodeState(
                state: ChallengeState(rawValue: try $0.text("state")), isSent: try $0.bool("is_sent"),
                createdAt: try $0.timestamp("created_at"),
                expiresAt: try $0.timestamp("expires_at"), lockedUntil: try $0.optionalTimestamp("locked_until"),
                now: try $0.timestamp("now"))
        }
    }

    /// For a ``BatchWriter``: notes the time at which codes were sent, by the ids of their challenges. It does not wait
    /// for a row that a try of the code has locked. A try that counts notes the time itself. A person who tries a code no
    /// longer waits for it.
    static let sent: Statement = """
        UPDATE challenges SET sent_at = clock_timestamp() WHERE id IN (
            SELECT id FROM challenges WHERE id = ANY ($1::uuid[]) FOR NO KEY UPDATE SKIP LOCKED)
        """

    private static let select: Statement = """
        SELECT c.state, c.sent_at IS NOT NULL AS is_sent, c.created_at, c.expires_at, clock_timestamp() AS now,
            (SELECT l.until FROM challenge_locks l WHERE l.phone_hash = c.phone_hash AND l.asker = c.asker) AS locked_until
        FROM challenges c WHERE c.id = $1
        """
}
