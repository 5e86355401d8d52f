import BusProtocol
import Cryptography
import Database
import EventLoop
import ServiceRuntime

/// How a claim becomes a case.
extension CaseStore {
    /// What became of a claim that auth began.
    enum Claim: Sendable {
        case made(RecoveryCase)
        /// The same claimant has an open case against the same account already.
        case alreadyOpen
        /// The claimant's number has had as many cases in 30 days as it may, or was rejected by this account's reviewers a
        /// while ago. Seconds until it may ask again.
        case tooMany(wait: Int64)
    }

    /// Whether a client address, or the site that it is in, has asked for as many cases within a day as it may.
    @Loop func isSpent(_ origin: ClientOrigin) async throws -> Bool {
        let rows = try await container.database.read(Self.byOrigin, [.bytes(origin.address), .bytes(origin.site)])
        guard let row = rows.first else { return false }
        return policy.isSpent(address: try row.integer("of_address"), site: try row.integer("of_site"))
    }

    /// Gives the case the claimant's secrets, in place of those that it had, and the address that it was asked for from; all
    /// of them as keyed hashes. The reason is sealed for a decoy, too, which takes the same time and keeps none.
    @Loop func setSecrets(
        token: [UInt8], device: [UInt8], origin: ClientOrigin, reason: String?, of id: Identifier,
        in transaction: Transaction
    ) {
        let given = (reason ?? "").isEmpty ? nil : reason
        let sealed = given.map { secrets.evidenceSealer.seal(Array($0.utf8), associated: id.array) }
        transaction.send(
            Self.keepSecrets,
            [
                .uuid(id), .bytes(token), .bytes(device), .bytes(origin.address), .bytes(origin.site), .bytes(sealed),
            ])
    }

    /// Makes the case that auth began, with its timer and what its owner is told; a second call finds it made. Where no
    /// case is made, auth is told to lift the freeze that it wrote for it.
    @Loop func ensure(
        _ begun: RecoveryBegun, origin: ClientOrigin?, in transaction: Transaction
    ) async throws -> Claim {
        // The account's turn before anything else, as auth's event has it: who took the claimant's turn or the case first
        // would wait for the event, and the event for them.
        if let account = begun.accountID { Erasure.wait(for: account, in: transaction) }
        if let known = try await locked(begun.caseID, in: transaction) { return .made(known) }
        // Claims of one number take turns, or as many as come at once would all be counted before any is there.
        transaction.send(Self.claimantTurn, [.text(begun.claimantReference)])
        var begun = begun
        if let account = begun.accountID, try await Erasure.isErased(account, in: transaction) {
            begun.accountID = nil
        }
        let earlier = try await transaction.query(
            Self.byClaimant, [.text(begun.claimantReference), .uuid(begun.caseID)])
        guard try earlier.first?.integer("count") ?? 0 < policy.perPhone else {
            try await close(
                begun.accountID, case: begun.caseID, outcome: "cancelled", at: .now(),
                claimantWaits: false, in: transaction)
            return .tooMany(wait: 2_592_000)
        }
        let pair: [SQLValue] = [.text(begun.accountReference), .text(begun.claimantReference)]
        let past = try await transaction.query(Self.past, pair + [.uuid(begun.accountID)]).first
        if let wait = try past?.optionalInteger("cooling_seconds"), wait > 0 {
            try await close(
                begun.accountID, case: begun.caseID, outcome: "cancelled", at: .now(),
                claimantWaits: false, in: transaction)
            return .tooMany(wait: wait)
        }
        let isLocked = try past?.bool("is_locked") == true && begun.proof == nil
        let isDecoy = try begun.accountID == nil || past?.bool("is_barred") == true || isLocked
        let share = Double(try past?.integer("dormant_percent") ?? 0) / 100
        let hold = policy.hold(
            afterClaims: try past?.integer("claims") ?? 0,
            isDormant: begun.accountID == nil
                ? RecoveryPolicy.looksDormant(begun.accountReference, share: share) : begun.isDormant == true)
        return try await make(begun, isDecoy: isDecoy, hold: hold, origin: origin, in: transaction)
    }

    /// A hold that begins by a clock that was set back would be over too early once the clock is right. What auth has begun
    /// becomes a case all the same: without one its owner could not stop it.
    ///
    /// - Throws: ``BusError`` `service_unavailable` while the database's clock is not where it should be.
    @Loop func mustTrustClock() throws(BusError) {
        guard !container.trustsClock else { return }
        throw BusError(
            .serviceUnavailable, "Recoveries cannot begin at the moment. Please try again later.",
            retryAfter: .seconds(60))
    }

    @Loop private func make(
        _ begun: RecoveryBegun, isDecoy: Bool, hold: Int64, origin: ClientOrigin?, in transaction: Transaction
    ) async throws -> Claim {
        let facts = ClaimFacts(
            phone: begun.maskedClaimantPhone, platform: begun.platform,
            hasRecentSignIn: begun.hasRecentSignIn ?? false)
        let rows = try await transaction.query(
            Self.insert,
            [
                .uuid(begun.caseID), .uuid(begun.accountID), .text(begun.accountReference),
                .text(begun.claimantReference), .bool(isDecoy), .bytes(origin?.address), .integer(hold),
                .bytes(try notifier.seal(facts, of: begun.caseID)), .text(begun.proof), .bool(begun.isStaff ?? false),
                .bool(begun.accountID == nil ? nil : begun.isDormant ?? false), .bytes(origin?.site),
            ])
        guard let row = rows.first else {
            // Either auth's event and the claimant's answer met here, and the other made the case a moment ago,
            if let known = try await locked(behindItsTurn: begun.caseID, in: transaction) { return .made(known) }
            // or the claimant has another open case against the account.
            try await close(
                begun.accountID, case: begun.caseID, outcome: "cancelled", at: .now(),
                claimantWaits: false, in: transaction)
            return .alreadyOpen
        }
        let made = try RecoveryCase(row)
        note("requested", by: .claimant, made.life, of: made, in: transaction)
        setTimer(Self.holdTimer, of: made, at: made.holdUntil, in: transaction)
        if isDecoy {
            // A barred claimant must not keep the account frozen.
            if begun.accountID != nil {
                try await close(
                    begun.accountID, case: made.id, outcome: "cancelled", at: made.now, claimantWaits: true,
                    in: transaction)
            }
        } else if let account = begun.accountID {
            try await container.outbox.publish(
                CaseOpened(personID: account, caseID: made.id, holdUntil: made.holdUntil), in: transaction)
            try await notifier.begin(made, of: account, in: transaction)
        }
        return .made(made)
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
    /// A case that was made by auth's event may be over before its claimant hears of it.
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
    /// What is known of the number that is asked for, and of the two numbers: the same for one without an account.
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
