import BusProtocol
import Database
import EventLoop

/// Reads and writes cases.
@Loop enum CaseStore {
    /// Locks a case until the transaction ends. As everywhere, it takes the account's advisory lock first.
    static func locked(_ id: Identifier, in transaction: Transaction) async throws -> RecoveryCase? {
        transaction.send(turn, [.uuid(id)])
        return try await locked(behindItsTurn: id, in: transaction)
    }

    /// Locks a case until the transaction ends. The transaction has the account's advisory lock already.
    static func locked(behindItsTurn id: Identifier, in transaction: Transaction) async throws -> RecoveryCase? {
        try await transaction.query(lock, [.uuid(id)]).first.map { try RecoveryCase($0) }
    }

    static func find(_ id: Identifier, in database: Database) async throws -> RecoveryCase? {
        try await database.read(load, [.uuid(id)]).first.map { try RecoveryCase($0) }
    }

    /// Locks every other open case against an account. The transaction has the account's advisory lock already.
    static func others(
        against account: Identifier, but id: Identifier, in transaction: Transaction
    ) async throws -> [RecoveryCase] {
        try await transaction.query(others, [.uuid(account), .uuid(id)]).map { try RecoveryCase($0) }
    }

    /// Writes the new state of a case.
    ///
    /// - Parameters:
    ///   - expiresAfter: the seconds from now within which the next party must act; `nil` keeps the earlier time.
    ///   - isContested: whether the owner contests the case with this event.
    ///   - isEvidence: whether the claimant gives evidence with this event.
    static func move(
        _ id: Identifier, to life: CaseLife, expiresAfter: Int64?, isContested: Bool, isEvidence: Bool,
        in transaction: Transaction
    ) {
        transaction.send(
            move,
            [
                .uuid(id), .text(life.status.rawValue), .text(life.shadow?.rawValue), .bool(life.status.isClosed),
                .bool(life.seen.isClosed), .integer(expiresAfter), .bool(isContested), .bool(isEvidence),
            ])
    }

    /// The seconds that each of the last 50 decisions took.
    static func decisionSeconds(in transaction: Transaction) async throws -> [Int64] {
        try await transaction.query(decisions).map { try $0.integer("seconds") }
    }

    /// Bars claimants from an account, by their references.
    static func bar(_ claimants: [String], from account: String, for seconds: Int64, in transaction: Transaction) {
        transaction.send(bar, [.text(account), .textArray(claimants), .integer(seconds)])
    }

    static func noteAttempt(_ attempt: Identifier, of id: Identifier, in transaction: Transaction) {
        transaction.send(attempted, [.uuid(id), .uuid(attempt)])
    }

    /// Separates an account's cases from the account. They stay for their claimants, with their audit trail. They open
    /// no account, and nothing in them leads to the person or the number.
    ///
    /// - Returns: the cases that were open.
    static func erase(_ account: Identifier, in transaction: Transaction) async throws -> [Identifier] {
        let open = try await transaction.query(open, [.uuid(account)]).map { try $0.uuid("id") }
        for statement in erasure { transaction.send(statement, [.uuid(account)]) }
        return open
    }

    private static let turn = Statement("SELECT \(Erasure.wait(forPersonIn: "account_id")) FROM cases WHERE id = $1")
    private static let load = Statement("SELECT \(RecoveryCase.columns) FROM cases WHERE id = $1")
    private static let lock = Statement("SELECT \(RecoveryCase.columns) FROM cases WHERE id = $1 FOR UPDATE")
    private static let others = Statement(
        """
        SELECT \(RecoveryCase.columns) FROM cases
        WHERE account_id = $1 AND id <> $2 AND closed_at IS NULL AND NOT is_decoy ORDER BY created_at FOR UPDATE
        """)
    /// A contest removes the first approval, because that reviewer had heard one side only.
    private static let move: Statement = """
        UPDATE cases SET status = $2, shadow = $3,
            closed_at = CASE WHEN $4 THEN coalesce(closed_at, clock_timestamp()) END,
            seen_closed_at = CASE WHEN $5 THEN coalesce(seen_closed_at, clock_timestamp()) END,
            expires_at = coalesce(clock_timestamp() + $6::bigint * interval '1 s', expires_at),
            evidence_at = CASE WHEN $8 THEN clock_timestamp() ELSE evidence_at END,
            reason_sealed = CASE WHEN $4 THEN NULL ELSE reason_sealed END,
            evidence_sealed = CASE WHEN $4 THEN NULL ELSE evidence_sealed END,
            owner_evidence_sealed = CASE WHEN $4 THEN NULL ELSE owner_evidence_sealed END,
            owner_evidence_earlier = CASE WHEN $4 THEN '{}' ELSE owner_evidence_earlier END,
            first_approval = CASE WHEN $7 AND contested_at IS NULL THEN NULL ELSE first_approval END,
            first_approval_key = CASE WHEN $7 AND contested_at IS NULL THEN NULL ELSE first_approval_key END,
            contested_at = CASE WHEN $7 THEN coalesce(contested_at, clock_timestamp()) ELSE contested_at END
        WHERE id = $1
        """
    private static let open: Statement = "SELECT id FROM cases WHERE account_id = $1 AND closed_at IS NULL"
    private static let attempted: Statement = """
        UPDATE cases SET attempt = $2, attempt_at = clock_timestamp() WHERE id = $1
        """
    private static let decisions: Statement = """
        SELECT extract(epoch FROM decided_at - evidence_at)::bigint AS seconds FROM cases
        WHERE decided_at IS NOT NULL AND NOT is_decoy ORDER BY decided_at DESC LIMIT 50
        """
    private static let bar: Statement = """
        INSERT INTO bars (account_reference, claimant_reference, until)
        SELECT $1, claimant, clock_timestamp() + $3::bigint * interval '1 s' FROM unnest($2::text[]) AS claimant
        ON CONFLICT (account_reference, claimant_reference) DO UPDATE SET until = excluded.until
        """
    /// The last statement changes the cases themselves. No reviewer decides them any more. An approved case ends, and
    /// the status that a claimant sees becomes the true one.
    private static let erasure: [Statement] = [
        "DELETE FROM bars WHERE account_reference IN (SELECT account_reference FROM cases WHERE account_id = $1)",
        """
        DELETE FROM notice_deliveries WHERE notice_id IN (
            SELECT n.id FROM notices n JOIN cases c ON c.id = n.case_id WHERE c.account_id = $1)
        """,
        "DELETE FROM notices WHERE case_id IN (SELECT id FROM cases WHERE account_id = $1)",
        "DELETE FROM dispute_tokens WHERE case_id IN (SELECT id FROM cases WHERE account_id = $1)",
        "DELETE FROM review_notes WHERE case_id IN (SELECT id FROM cases WHERE account_id = $1)",
        "DELETE FROM locks WHERE person_id = $1",
        """
        UPDATE cases SET account_id = NULL, account_reference = 'erased ' || id, is_decoy = true, facts_sealed = NULL,
            reason_sealed = NULL, evidence_sealed = NULL, owner_evidence_sealed = NULL, owner_evidence_earlier = '{}',
            proof_references = '{}',
            status = CASE WHEN shadow IS NOT NULL THEN shadow WHEN status IN ('approved', 'completing') THEN 'rejected'
                ELSE status END,
            seen_closed_at = CASE WHEN status IN ('approved', 'completing') THEN clock_timestamp() ELSE seen_closed_at END,
            closed_at = CASE WHEN status IN ('approved', 'completing') THEN clock_timestamp() ELSE seen_closed_at END,
            shadow = NULL
        WHERE account_id = $1
        """,
    ]
}
