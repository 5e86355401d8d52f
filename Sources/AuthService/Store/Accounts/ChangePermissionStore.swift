import BusProtocol
import Database
import EventLoop

/// Reads what a session may do to its account, and whether a recovery freezes the account.
@Loop enum ChangePermissionStore {
    /// Locks the account until the transaction ends, and reads the permission of the session. Meanwhile, a recovery that
    /// freezes or moves the account waits.
    ///
    /// - Returns: `nil` if the session ended or is not the person's, or if the account is not active.
    static func permission(of actor: Actor, in transaction: Transaction) async throws -> ChangePermission? {
        // A separate statement: the next one must read the freezes after the wait.
        AccountStore.lock(actor.userID, in: transaction)
        return try await transaction.query(select, [.uuid(actor.sessionID), .uuid(actor.userID)]).first.map {
            ChangePermission(
                isFresh: try $0.bool("is_fresh"),
                frozenFor: try $0.optionalInteger("frozen_seconds").map { .seconds($0) })
        }
    }

    /// The time until the freeze of an account ends by itself; `nil` if no recovery that counts freezes it.
    ///
    /// - Parameter moment: recoveries that began after it count only if they moved the account; `nil` if all count.
    static func freeze(
        of person: Identifier, before moment: Timestamp?, in transaction: Transaction
    ) async throws -> Duration? {
        try await transaction.query(freeze, [.uuid(person), .timestamp(moment)]).first?
            .optionalInteger("frozen_seconds").map { .seconds($0) }
    }

    private static let freeze: Statement = """
        SELECT ceil(extract(epoch FROM max(until) - clock_timestamp()))::bigint AS frozen_seconds FROM freezes
        WHERE person_id = $1 AND ended_at IS NULL AND until > clock_timestamp()
            AND ($2::timestamptz IS NULL OR created_at <= $2 OR applied_at IS NOT NULL)
        """
    /// SQL: whether the session `s` of the account `a` is fresh. Only the strongest way in that the account has counts:
    /// a code by SMS, else a linked identity, else a code by email.
    static let isFresh = """
        coalesce(
            CASE WHEN s.otp_at IS NOT NULL THEN s.otp_at
                WHEN NOT EXISTS (SELECT FROM phones p WHERE p.person_id = a.id)
                    AND (s.opened_by IS NOT NULL OR NOT EXISTS (
                        SELECT FROM identities i WHERE i.person_id = a.id AND i.to_confirm_since IS NULL))
                THEN s.created_at END
            > clock_timestamp() - interval '\(ChangePermission.freshness.components.seconds) s', false)
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
