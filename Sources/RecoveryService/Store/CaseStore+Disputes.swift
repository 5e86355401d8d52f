import BusProtocol
import Database
import EventLoop

/// Reads the facts that decide a dispute, and the cases that an owner sees.
extension CaseStore {
    /// Whether the owner was sent this dispute token for this case.
    ///
    /// - Parameter hash: the keyed hash of the token. Timing the comparison of hashes does not help an attacker.
    static func stops(_ hash: [UInt8], _ record: RecoveryCase, in transaction: Transaction) async throws -> Bool {
        try await !transaction.query(disputeToken, [.bytes(hash), .uuid(record.id)]).isEmpty
    }

    /// Whether reviewers decided another case against the account that was contested within ``DisputePolicy/days``. An
    /// undecided case does not count. Otherwise a thief with the phone could use up the owner's contests with claims of
    /// their own.
    static func wasContestedLately(_ record: RecoveryCase, in transaction: Transaction) async throws -> Bool {
        try await !transaction.query(contestedLately, [.uuid(record.accountID), .uuid(record.id)]).isEmpty
    }

    /// The newest 100 cases against a person's account, the newest first.
    static func cases(
        against person: Identifier, in database: Database
    ) async throws -> [OwnRecoveryCases.Case] {
        try await database.read(against, [.uuid(person)]).map { row in
            OwnRecoveryCases.Case(
                recoveryId: try row.uuid("id"), status: try row.text("status"),
                requestedAt: try row.timestamp("created_at"), holdUntil: try row.timestamp("hold_until"),
                closedAt: try row.optionalTimestamp("closed_at"))
        }
    }

    private static let disputeToken: Statement = "SELECT case_id FROM dispute_tokens WHERE hash = $1 AND case_id = $2"
    private static let contestedLately = Statement(
        """
        SELECT id FROM cases
        WHERE account_id = $1 AND id <> $2 AND decided_at > contested_at
            AND contested_at > clock_timestamp() - interval '\(DisputePolicy.days) days'
        LIMIT 1
        """)
    private static let against: Statement = """
        SELECT id, status, created_at, hold_until, closed_at FROM cases
        WHERE account_id = $1 AND NOT is_decoy ORDER BY created_at DESC LIMIT 100
        """
}
