import BusProtocol
import Database
import EventLoop
import ServiceRuntime

/// Reads what is checked before a claim becomes a case, and creates the case.
extension CaseStore {
    /// Counts the cases of a day from a client address, and from the site of that address.
    static func count(
        of origin: ClientOrigin, in database: Database
    ) async throws -> (ofAddress: Int64, ofSite: Int64) {
        let rows = try await database.read(byOrigin, [.bytes(origin.address), .bytes(origin.site)])
        guard let row = rows.first else { return (0, 0) }
        return (try row.integer("of_address"), try row.integer("of_site"))
    }

    /// Makes claims of one number run one after another. Otherwise claims at the same time would not count each other.
    static func waitForTurn(ofClaimant reference: String, in transaction: Transaction) {
        transaction.send(claimantTurn, [.text(reference)])
    }

    /// The history of the two numbers of a claim.
    static func history(of begun: RecoveryBegun, in transaction: Transaction) async throws -> ClaimHistory {
        let earlier = try await transaction.query(byClaimant, [.text(begun.claimantReference), .uuid(begun.caseID)])
        let rows = try await transaction.query(
            past, [.text(begun.accountReference), .text(begun.claimantReference), .uuid(begun.accountID)])
        guard let count = earlier.first, let row = rows.first else { throw DatabaseError.aborted }
        return ClaimHistory(
            ofClaimant: try count.integer("count"), ofAccount: try row.integer("claims"),
            coolingSeconds: try row.optionalInteger("cooling_seconds") ?? 0, isBarred: try row.bool("is_barred"),
            isLocked: try row.bool("is_locked"), dormantPercent: try row.integer("dormant_percent"))
    }

    /// - Parameters:
    ///   - hold: seconds.
    ///   - facts: ``ClaimFacts``, encrypted.
    /// - Returns: `nil` if the case exists already, or if the claimant has another open case against the account.
    static func insert(
        _ begun: RecoveryBegun, isDecoy: Bool, hold: Int64, origin: ClientOrigin?, facts: [UInt8],
        in transaction: Transaction
    ) async throws -> RecoveryCase? {
        try await transaction.query(
            insert,
            [
                .uuid(begun.caseID), .uuid(begun.accountID), .text(begun.accountReference),
                .text(begun.claimantReference), .bool(isDecoy), .bytes(origin?.address), .integer(hold),
                .bytes(facts), .text(begun.proof), .bool(begun.isStaff ?? false),
                .bool(begun.accountID == nil ? nil : begun.isDormant ?? false), .bytes(origin?.site),
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
            hold_until, facts_sealed, proof, is_of_staff, is_dormant, site_hash)
        VALUES ($1, $2, $3, $4, $5, 'held', $6, greatest(clock_timestamp() + $7::bigint * interval '1 s', (
            SELECT max(hold_until) FROM cases WHERE account_reference = $3 AND claimant_reference = $4)), $8, $9, $10, $11,
            $12)
        ON CONFLICT DO NOTHING RETURNING \(RecoveryCase.columns)
        """)
    /// A case that auth's event created may be closed before its claimant gets the reply. Its reason is not kept.
    private static let keepSecrets: Statement = """
        UPDATE cases SET token_hash = $2, device_hash = $3, address_hash = $4, site_hash = $5,
            reason_sealed = CASE WHEN is_decoy OR closed_at IS NOT NULL THEN NULL ELSE $6::bytea END
        WHERE id = $1
        """
    private static let byOrigin: Statement = """
        SELECT (SELECT count(*) FROM cases WHERE address_hash = $1 AND created_at > clock_timestamp() - interval '1 day')
                AS of_address,
            (SELECT count(*) FROM cases WHERE site_hash = $2 AND created_at > clock_timestamp() - interval '1 day')
                AS of_site
        """
    private static let claimantTurn = Statement("SELECT \(AdvisoryLock.claimant.wait(for: "$1"))")
    private static let byClaimant: Statement = """
        SELECT count(*) AS count FROM cases
        WHERE claimant_reference = $1 AND id <> $2 AND created_at > clock_timestamp() - interval '30 days'
        """
    /// The history of the claimed number, and of the claimant's number with it. A number without an account has one,
    /// too.
    private static let past = Statement(
        """
        SELECT EXISTS (SELECT 1 FROM bars WHERE account_reference = $1 AND claimant_reference = $2
                AND until > clock_timestamp())
            -- By whatever number of the account: who was refused by the one asks for another, which reaches it for 90 days.
            OR EXISTS (SELECT 1 FROM cases c JOIN bars b USING (account_reference, claimant_reference)
                WHERE c.account_id = $3 AND c.claimant_reference = $2 AND b.until > clock_timestamp())
            OR EXISTS (SELECT 1 FROM cases WHERE account_id = $3 AND claimant_reference = $2
                AND account_reference <> $1 AND closed_at IS NULL AND NOT is_decoy) AS is_barred,
            EXISTS (SELECT 1 FROM locks WHERE person_id = $3 AND \(isOn)) AS is_locked,
            (SELECT count(*) FROM cases WHERE account_reference = $1
                AND created_at > clock_timestamp() - interval '30 days') AS claims,
            (SELECT coalesce(round(avg(is_dormant::int) * 100), 0)::bigint FROM (
                SELECT is_dormant FROM cases WHERE is_dormant IS NOT NULL ORDER BY created_at DESC LIMIT 200
            ) AS lately) AS dormant_percent,
            (SELECT ceil(extract(epoch FROM max(seen_closed_at) + interval '7 days' - clock_timestamp()))::bigint
                FROM cases WHERE account_reference = $1 AND claimant_reference = $2
                AND coalesce(shadow, status) = 'rejected') AS cooling_seconds
        """)
}
