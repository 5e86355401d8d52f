import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText

/// Rows of freezes: one for each recovery case that auth began, with the reply to recovery.
@Loop enum FreezeStore {
    /// The reply that was given for a case; `nil` if the case is new. Of two simultaneous requests for a case, the
    /// second waits here and finds the reply to the first.
    static func begun(
        _ caseID: Identifier, _ sealer: Sealer, in transaction: Transaction
    ) async throws -> RecoveryBegun? {
        transaction.send(lock, [.uuid(caseID)])
        return try await transaction.query(
            "SELECT begun, begun_sealed FROM freezes WHERE case_id = $1", [.uuid(caseID)]
        ).first.map { try opened($0, of: caseID, sealer) }
    }

    /// The previous release wrote the reply to the column `begun`. Housekeeping deletes those rows.
    private static func opened(_ row: Row, of caseID: Identifier, _ sealer: Sealer) throws -> RecoveryBegun {
        let body =
            if let sealed = try row.optionalBytes("begun_sealed") {
                try sealer.open(sealed, associated: caseID.array)
            } else {
                try row.json("begun")
            }
        return try WireJSON.decode(RecoveryBegun.self, from: body)
    }

    /// The facts by which a claim is judged, besides its numbers.
    struct Facts: Sendable {
        let hasRecentSignIn: Bool
        let proofs: Set<RecoveryProof>
        let isStaff: Bool
        let isDormant: Bool
    }

    /// Reads the facts of a claim. The query also runs if there is no account, so that it takes as long.
    ///
    /// - Parameters:
    ///   - claimant: the number or the address that the claimant verified.
    ///   - secret: the hash of the device's secret.
    ///   - identity: the hash of the identity that the claimant signed in with.
    ///   - age: the seconds for which a device, an identity or a number must have belonged to the account to be a
    ///     proof.
    ///   - dormantAfter: how long an account must be unused to count as dormant; `nil` if none does.
    static func facts(
        of account: Identifier?, claimant: ContactHashes, device: Identifier?, secret: [UInt8]?, identity: [UInt8]?,
        age: Int64, dormantAfter: Duration?, in transaction: Transaction
    ) async throws -> Facts? {
        try await transaction.query(
            facts,
            [
                .uuid(account), claimant.sought, .uuid(device), .bytes(secret),
                .integer(dormantAfter?.components.seconds), .bytes(identity), .integer(age),
            ]
        ).first.map { row in
            Facts(
                hasRecentSignIn: try row.bool("has_recent"),
                proofs: Set(try RecoveryProof.allCases.filter { try row.bool("has_\($0.rawValue)") }),
                isStaff: try row.bool("is_staff"), isDormant: try row.bool("is_dormant"))
        }
    }

    /// - Parameters:
    ///   - seconds: how long the freeze lasts if nothing ends or extends it; at least as long as the hold.
    ///   - hold: the account is not moved before this many seconds have passed.
    static func insert(
        _ begun: RecoveryBegun, _ sealer: Sealer, claimant: [UInt8], seconds: Int64, hold: Int64,
        in transaction: Transaction
    ) throws {
        transaction.send(
            insert,
            [
                .uuid(begun.caseID), .uuid(begun.accountID), .integer(seconds),
                .bytes(sealer.seal(try WireJSON.encode(begun), associated: begun.caseID.array)), .bytes(claimant),
                .integer(hold),
            ])
    }

    // MARK: The claimant's number or address

    /// Lets the claimant's contact open an account of its own again.
    static func freeClaimant(of caseID: Identifier, in transaction: Transaction) {
        transaction.send(
            "UPDATE freezes SET claimant_free_at = coalesce(claimant_free_at, clock_timestamp()) WHERE case_id = $1",
            [.uuid(caseID)])
    }

    /// Whether a number or an address claims an account now. It is given by its lasting hash.
    static func isClaiming(_ contact: [UInt8], in transaction: Transaction) async throws -> Bool {
        try await !transaction.query(claiming, [.bytes(contact)]).isEmpty
    }

    /// Whether a number or an address has a claim now in another case than this one.
    static func hasOtherClaim(
        _ contact: [UInt8], but caseID: Identifier, in transaction: Transaction
    ) async throws -> Bool {
        try await !transaction.query(otherClaim, [.bytes(contact), .uuid(caseID)]).isEmpty
    }

    // MARK: Moving the account

    /// A freeze whose row is locked until the transaction ends.
    struct Locked: Sendable {
        let accountReference: String
        let claimantReference: String
        let maskedClaimantPhone: String
        let isApplied: Bool
        /// Whether the case can no longer move an account: there is none, the freeze ended, or another recovery moved
        /// the account since.
        let isOver: Bool
        /// Whole seconds until the account may be moved; 0 if it may be moved now.
        let holdSeconds: Int64
    }

    /// The person whose account was frozen for a case; `nil` if none was.
    static func person(of caseID: Identifier, in transaction: Transaction) async throws -> Identifier? {
        try await transaction.query("SELECT person_id FROM freezes WHERE case_id = $1", [.uuid(caseID)]).first?
            .optionalUUID("person_id")
    }

    /// - Returns: `nil` for an unknown case.
    static func locked(_ caseID: Identifier, _ sealer: Sealer, in transaction: Transaction) async throws -> Locked? {
        guard let row = try await transaction.query(lockFreeze, [.uuid(caseID)]).first else { return nil }
        let begun = try opened(row, of: caseID, sealer)
        return Locked(
            accountReference: begun.accountReference, claimantReference: begun.claimantReference,
            maskedClaimantPhone: begun.maskedClaimantPhone, isApplied: try row.bool("is_applied"),
            isOver: try row.bool("is_over"), holdSeconds: try row.integer("hold_seconds"))
    }

    /// Forgets whose account a case claims, when the account is deleted. The case goes on as one without an account, so that its
    /// claimant does not learn of the deletion.
    static func forget(_ person: Identifier, _ sealer: Sealer, in transaction: Transaction) async throws {
        for row in try await transaction.query(claimsOf, [.uuid(person)]) {
            var begun = try opened(row, of: try row.uuid("case_id"), sealer)
            (begun.accountID, begun.proof) = (nil, nil)
            (begun.hasRecentSignIn, begun.isStaff, begun.isDormant) = (nil, nil, nil)
            let sealed = sealer.seal(try WireJSON.encode(begun), associated: begun.caseID.array)
            transaction.send(forget, [.uuid(begun.caseID), .bytes(sealed)])
        }
    }

    static func noteApplied(_ caseID: Identifier, in transaction: Transaction) {
        transaction.send(
            "UPDATE freezes SET applied_at = clock_timestamp() WHERE case_id = $1", [.uuid(caseID)])
    }

    static func isApplied(_ caseID: Identifier, in database: Database) async throws -> Bool {
        try await !database.read(
            "SELECT case_id FROM freezes WHERE case_id = $1 AND applied_at IS NOT NULL", [.uuid(caseID)]
        ).isEmpty
    }

    /// Ends all devices and push tokens of a person, and unlinks the email address, which may be a thief's. Linked
    /// identities must be confirmed before they open the account again.
    static func endDevices(of person: Identifier, in transaction: Transaction) {
        for statement in endOfDevices { transaction.send(statement, [.uuid(person)]) }
    }

    /// Extends the freeze and the hold of a case. Neither is ever shortened.
    ///
    /// Recovery's longest hold is 14 days. The limit of 30 days keeps an attacker who controls recovery from freezing
    /// an account for ever.
    static func extend(_ caseID: Identifier, until end: Timestamp, in transaction: Transaction) {
        transaction.send(
            """
            UPDATE freezes SET until = greatest(until, least($2, created_at + interval '30 days')),
                hold_until = greatest(hold_until, least($2, created_at + interval '30 days'))
            WHERE case_id = $1 AND ended_at IS NULL
            """, [.uuid(caseID), .timestamp(end)])
    }

    /// Ends the freeze of a case, at once or after a rest.
    ///
    /// - Parameter rest: how long the account stays frozen from now on; `nil` ends the freeze at once.
    /// - Returns: the person whose account was frozen; `nil` if none was, or if the freeze ended before.
    static func end(_ caseID: Identifier, after rest: Duration?, in transaction: Transaction) async throws
        -> Identifier?
    {
        try await transaction.query(end, [.uuid(caseID), .integer(rest?.components.seconds)]).first?
            .optionalUUID("person_id")
    }

    /// Deletes the timers of a person's cases from the outbox. It leaves those of other people's cases.
    static func dropTimers(
        _ destination: String, of cases: [Identifier], of person: Identifier, in transaction: Transaction
    ) { transaction.send(dropTimers, [.uuidArray(cases), .uuid(person), .text(destination)]) }

    private static let dropTimers: Statement = """
        DELETE FROM outbox WHERE id = ANY ($1) AND destination = $3
            AND EXISTS (SELECT FROM freezes f WHERE f.case_id = outbox.id AND f.person_id = $2)
        """
    private static let lock = Statement("SELECT \(AdvisoryLock.recovery.wait(for: "$1::uuid::text"))")
    /// The query compares the hash of the device's secret, so its timing reveals nothing useful. A device, identity or
    /// number that the account got only recently proves nothing, since an attacker may have added it.
    private static let facts = Statement(
        """
        SELECT a.role <> 'user' AS is_staff,
            coalesce((SELECT max(\(DormancyStore.seenAt)) FROM (
                    SELECT person_id, created_at FROM phones UNION ALL SELECT person_id, linked_at FROM emails
                    UNION ALL SELECT person_id, linked_at FROM identities) p WHERE p.person_id = a.id)
                < clock_timestamp() - $5::bigint * interval '1 s', false) AS is_dormant,
            EXISTS (SELECT 1 FROM sessions s WHERE s.person_id = a.id
                AND s.otp_at > clock_timestamp() - interval '1 day') AS has_recent,
            EXISTS (SELECT 1 FROM phone_aliases p WHERE p.person_id = a.id AND \(ContactHashes.found("p", by: "$2"))
                AND p.until > clock_timestamp() AND p.held >= age.least) AS has_former_number,
            EXISTS (SELECT 1 FROM identities i WHERE i.person_id = a.id AND i.hash = $6
                AND i.to_confirm_since IS NULL AND i.linked_at <= clock_timestamp() - age.least) AS has_linked_identity,
            EXISTS (SELECT 1 FROM devices d WHERE d.id = $3 AND d.person_id = a.id AND d.secret_hash = $4
                AND d.removed_at IS NULL AND d.created_at <= clock_timestamp() - age.least
                -- A device that only a mailbox has signed in is no proof: a code by email is the weakest way in.
                AND EXISTS (SELECT 1 FROM sessions s WHERE s.person_id = d.person_id AND s.device_id = d.id
                    AND (s.otp_at IS NOT NULL OR s.opened_by IS NOT NULL))) AS has_device
        FROM accounts a, (SELECT $7::bigint * interval '1 s' AS least) AS age WHERE a.id = $1
        """)
    private static let end: Statement = """
        UPDATE freezes SET ended_at = CASE WHEN $2 IS NULL THEN clock_timestamp() END,
            until = coalesce(clock_timestamp() + $2::bigint * interval '1 s', until)
        WHERE case_id = $1 AND ended_at IS NULL RETURNING person_id
        """
    private static let insert: Statement = """
        INSERT INTO freezes (case_id, person_id, until, begun_sealed, claimant_hash, hold_until)
        -- One clock for both: the freeze must not end before the hold.
        SELECT $1, $2, now + greatest($3::bigint, $6) * interval '1 s', $4, $5, now + $6::bigint * interval '1 s'
        FROM clock_timestamp() AS now
        """
    private static let claiming: Statement = """
        SELECT case_id FROM freezes
        WHERE claimant_hash = $1 AND claimant_free_at IS NULL AND until > clock_timestamp() LIMIT 1
        """
    private static let otherClaim: Statement = """
        SELECT case_id FROM freezes
        WHERE claimant_hash = $1 AND case_id <> $2 AND claimant_free_at IS NULL AND until > clock_timestamp() LIMIT 1
        """
    private static let claimsOf: Statement = """
        SELECT case_id, begun, begun_sealed FROM freezes WHERE person_id = $1 AND applied_at IS NULL
        ORDER BY case_id FOR UPDATE
        """
    private static let forget: Statement = """
        UPDATE freezes SET person_id = NULL, begun = NULL, begun_sealed = $2 WHERE case_id = $1
        """
    private static let lockFreeze: Statement = """
        SELECT f.begun, f.begun_sealed, f.applied_at IS NOT NULL AS is_applied,
            f.person_id IS NULL OR f.ended_at IS NOT NULL OR f.until <= clock_timestamp() OR EXISTS (
                SELECT 1 FROM freezes o WHERE o.person_id = f.person_id AND o.applied_at > f.created_at) AS is_over,
            greatest(ceil(extract(epoch FROM f.hold_until - clock_timestamp()))::bigint, 0) AS hold_seconds
        FROM freezes f WHERE f.case_id = $1 FOR UPDATE
        """
    private static let endOfDevices: [Statement] = [
        """
        UPDATE devices SET secret_hash = '', removed_secret_hash = NULL, push_token_sealed = NULL,
            removed_at = coalesce(removed_at, clock_timestamp())
        WHERE person_id = $1
        """,
        "DELETE FROM replaced_push_tokens WHERE person_id = $1",
        "UPDATE identities SET to_confirm_since = clock_timestamp() WHERE person_id = $1",
        "DELETE FROM emails WHERE person_id = $1",
    ]
}
