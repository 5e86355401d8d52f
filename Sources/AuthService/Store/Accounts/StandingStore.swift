import BusProtocol
import Database
import EventLoop

/// Reads how a session stands to its account.
@Loop enum StandingStore {
    /// The account is locked until the transaction ends: a freeze that somebody begins meanwhile waits, and who moves the
    /// account waits for it.
    ///
    /// - Throws: ``BusError`` `unauthorized` where the session ended, or is not that person's, or the account is closed.
    static func standing(of actor: Actor, in transaction: Transaction) async throws -> SessionStanding {
        // A statement of its own: what reads freezes must begin behind the wait.
        AccountStore.lock(actor.userID, in: transaction)
        guard let row = try await transaction.query(select, [.uuid(actor.sessionID), .uuid(actor.userID)]).first else {
            throw BusError(.unauthorized, "Please sign in.")
        }
        return SessionStanding(
            isFresh: try row.bool("is_fresh"),
            frozenFor: try row.optionalInteger("frozen_seconds").map { .seconds($0) })
    }

    /// For an act that no session does.
    ///
    /// - Parameter moment: recoveries that were begun after it count only where they moved the account; `nil`: all count.
    /// - Throws: ``BusError`` `account_frozen`.
    static func mustNotBeFrozen(
        _ person: Identifier, before moment: Timestamp? = nil, in transaction: Transaction
    ) async throws {
        let rows = try await transaction.query(freeze, [.uuid(person), .timestamp(moment)])
        let seconds = try rows.first?.optionalInteger("frozen_seconds")
        try SessionStanding(isFresh: false, frozenFor: seconds.map { .seconds($0) }).mustNotBeFrozen()
    }

    private static let freeze: Statement = """
        SELECT ceil(extract(epoch FROM max(until) - clock_timestamp()))::bigint AS frozen_seconds FROM freezes
        WHERE person_id = $1 AND ended_at IS NULL AND until > clock_timestamp()
            AND ($2::timestamptz IS NULL OR created_at <= $2 OR applied_at IS NOT NULL)
        """
    /// Of a session `s` of the account `a`. An account without a number gets no code: its linked identity is all that it can be
    /// asked for.
    static let isFresh = """
        coalesce(
            CASE WHEN s.opened_by IS NULL THEN s.otp_at
                WHEN NOT EXISTS (SELECT FROM phones p WHERE p.person_id = a.id) THEN s.created_at END
            > clock_timestamp() - interval '\(SessionStanding.freshness.components.seconds) s', false)
        """
    private static let select = Statement(
        """
        SELECT \(isFresh) AS is_fresh,
            (SELECT ceil(extract(epoch FROM max(f.until) - clock_timestamp()))::bigint FROM freezes f
                WHERE f.person_id = a.id AND f.ended_at IS NULL AND f.until > clock_timestamp()) AS frozen_seconds
        FROM sessions s JOIN accounts a ON a.id = s.person_id
        WHERE s.id = $1 AND s.person_id = $2 AND s.revoked_at IS NULL AND a.status = 'active'
        """)
}
