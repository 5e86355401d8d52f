import BusProtocol
import Database
import EventLoop
import ServiceRuntime

/// Reads the facts that recovery checks before a claim becomes a case, and creates the case.
extension CaseStore {
    /// Counts the cases of a day from a client address, and from the site of that address.
    static func count(
        of origin: ClientOrigin, in database: Database
    ) async throws -> (ofAddress: Int64, ofSite: Int64) {
        let rows = try await database.read(byOrigin, [.bytes(origin.address), .bytes(origin.site)])
        guard let row = rows.first else { return (0, 0) }
        return (try row.integer("of_address"), try row.integer("of_site"))
    }

    /// Makes claims of one claimant run one after another. Otherwise claims at the same time would not count each other.
    static func waitForTurn(ofClaimant begun: RecoveryBegun, in transaction: Transaction) {
        // Sorted, so that all transactions take the locks in the same order and cannot deadlock.
        for reference in begun.claimants.sorted() { transaction.send(claimantTurn, [.text(reference)]) }
    }

    /// The history of the claimant and of the claimed account.
    static func history(of begun: RecoveryBegun, in transaction: Transaction) async throws -> ClaimHistory {
        let claimants = SQLValue.textArray(begun.claimants)
        let earlier = try await transaction.query(
            byClaimant, [claimants, .uuid(begun.caseID), .text(begun.accountReference)])
        let rows = try await transaction.query(
            past,
            [.text(begun.accountReference), claimants, .uuid(begun.accountID), .text(begun.claimantReference)])
        guard let count = earlier.first, let row = rows.first else { throw DatabaseError.aborted }
        return ClaimHistory(
            ofClaimant: try count.integer("count"), ofName: try row.integer("claims"),
            ofAccount: try row.integer("claims_of_account"),
            coolingSeconds: try row.optionalInteger("cooling_seconds") ?? 0, isBarred: try row.bool("is_barred"),
            isLocked: try row.bool("is_locked"), dormantPercent: try row.integer("dormant_percent"))
    }

    /// - Parameters:
    ///   - hold: seconds.
    ///   - decidedAfter: the seconds after which reviewers may decide; `nil` if that is the hold.
    ///   - facts: ``ClaimFacts``, encrypted.
    /// - Returns: `nil` if the case exists already, or if the claimant has another open case against the account.
    static func insert(
        _ begun: RecoveryBegun, isDecoy: Bool, hold: Int64, decidedAfter: Int64?, origin: ClientOrigin?, facts: [UInt8],
        in transaction: Transaction
    ) async throws -> RecoveryCase? {
        try await transaction.query(
            insert,
            [
                .uuid(begun.caseID), .uuid(begun.accountID), .text(begun.accountReference),
                .text(begun.claimantReference), .bool(isDecoy), .bytes(origin?.address), .integer(hold),
                .bytes(facts), .text(begun.proof), .bool(begun.isStaff ?? false),
                .bool(begun.accountID == nil ? nil : begun.isDormant ?? false), .bytes(origin?.site),
                .text(begun.claimantMailbox), .textArray(begun.claimantProofs ?? []), .integer(decidedAfter),
            ]
        ).first.map { try RecoveryCase($0) }
    }

    /// Replaces the claimant's token, device secret, addresses and reason. All are keyed hashes, except the reason,
    /// which is encrypted.
    static func keepSecrets(
        token: [UInt8], device: [UInt8], origin: ClientOrigin, reason: [UInt8]?, of id: Identifier,
        in transaction: Transaction
    ) {
        transaction.send(
            keepSecrets,
            [
                .uuid(id), .bytes(token), .bytes(device), .bytes(origin.address), .bytes(origin.site), .bytes(reason),
            ])
    }

    private static let insert = Statement(
        """
        INSERT INTO cases (id, account_id, account_reference, claimant_reference, is_decoy, status, address_hash,
            hold_until, facts_sealed, proof, is_of_staff, is_dormant, site_hash, mailbox_reference, proof_references,
            decided_from)
        VALUES ($1, $2, $3, $4, $5, 'held', $6, greatest(clock_timestamp() + $7::bigint * interval '1 s', (
            SELECT max(hold_until) FROM cases WHERE account_reference = $3 AND claimant_reference = $4)), $8, $9, $10, $11,
            $12, $13, $14, clock_timestamp() + $15::bigint * interval '1 s')
        ON CONFLICT DO NOTHING RETURNING \(RecoveryCase.columns)
        """)
    /// A case that auth's event created may be closed before its claimant gets the reply. Its reason is not kept.
    private static let keepSecrets: Statement = """
        UPDATE cases SET token_hash = $2, device_hash = $3, address_hash = $4, site_hash = $5,
            reason_sealed = CASE WHEN is_decoy OR closed_at IS NOT NULL THEN NULL ELSE $6::bytea END
        WHERE id = $1
        """
    private static let byOrigin: Statement = """
        SELECT (SELECT count(*) FROM cases WHERE address_hash = $1 AND created_at > now() - interval '1 day')
                AS of_address,
            (SELECT count(*) FROM cases WHERE site_hash = $2 AND created_at > now() - interval '1 day')
                AS of_site
        """
    private static let claimantTurn = Statement("SELECT \(AdvisoryLock.claimant.wait(for: "$1"))")
    /// SQL: whether a claimant made a case, with any of the references.
    private static func isBy(_ references: String) -> String {
        "(claimant_reference = ANY (\(references)) OR mailbox_reference = ANY (\(references))"
            + " OR proof_references && \(references) AND proof_references <> '{}')"
    }
    /// Several people may use one device. So a device counts only together with the name of the account.
    private static let byClaimant = Statement(
        """
        SELECT count(*) AS count FROM cases
        WHERE (claimant_reference = ANY ($1) OR mailbox_reference = ANY ($1) OR account_reference = $3 AND \(isBy("$1")))
            AND id <> $2 AND created_at > \(lately)
        """)
    /// The claimant sees the wait after a rejection and the hold. Both depend on the claimant and on the name of the
    /// account, but not on the account itself. Facts about the account only make a decoy, or let reviewers wait.
    private static let past = Statement(
        """
        SELECT EXISTS (SELECT 1 FROM bars WHERE claimant_reference = ANY ($2) AND until > clock_timestamp()
                -- By whatever name of the account: who was refused by the one asks for another, which reaches it, too.
                AND (account_reference = $1
                    OR account_reference IN (SELECT account_reference FROM cases WHERE account_id = $3)))
            OR EXISTS (SELECT 1 FROM cases WHERE account_id = $3 AND \(isBy("$2")) AND (
                closed_at IS NULL AND NOT is_decoy AND (account_reference, claimant_reference) <> ($1, $4)
                OR coalesce(shadow, status) = 'rejected' AND seen_closed_at > clock_timestamp() - \(coolingOff)))
                AS is_barred,
            EXISTS (SELECT 1 FROM locks WHERE person_id = $3 AND \(isOn)) AS is_locked,
            (SELECT count(*) FROM cases WHERE account_reference = $1 AND created_at > \(lately)) AS claims,
            (SELECT count(*) FROM cases WHERE account_id = $3 AND created_at > \(lately)) AS claims_of_account,
            (SELECT coalesce(round(avg(is_dormant::int) * 100), 0)::bigint FROM (
                SELECT is_dormant FROM cases WHERE is_dormant IS NOT NULL ORDER BY created_at DESC LIMIT 200
            ) AS lately) AS dormant_percent,
            (SELECT ceil(extract(epoch FROM max(seen_closed_at) + \(coolingOff) - clock_timestamp()))::bigint
                FROM cases WHERE account_reference = $1 AND \(isBy("$2"))
                AND coalesce(shadow, status) = 'rejected') AS cooling_seconds
        """)
    /// By `now()`, since an index cannot serve `clock_timestamp()`.
    private static let lately = "now() - interval '\(ClaimHistory.days) days'"
    private static let coolingOff = "interval '\(RecoveryPolicy.coolingOff) s'"
}
