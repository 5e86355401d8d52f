import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText

/// Rows of freezes: one for each recovery case that auth began, with what recovery was answered.
@Loop enum FreezeStore {
    /// What was answered for the case; `nil` where it is new. The same case at once: the second waits here and finds what
    /// the first was answered.
    static func begun(
        _ caseID: Identifier, _ sealer: Sealer, in transaction: Transaction
    ) async throws -> RecoveryBegun? {
        transaction.send(lock, [.uuid(caseID)])
        return try await transaction.query(
            "SELECT begun, begun_sealed FROM freezes WHERE case_id = $1", [.uuid(caseID)]
        ).first.map { try opened($0, of: caseID, sealer) }
    }

    /// What the previous release wrote stands in `begun`, until housekeeping removes it.
    private static func opened(_ row: Row, of caseID: Identifier, _ sealer: Sealer) throws -> RecoveryBegun {
        let body =
            if let sealed = try row.optionalBytes("begun_sealed") {
                try sealer.open(sealed, associated: caseID.array)
            } else {
                try row.json("begun")
            }
        return try WireJSON.decode(RecoveryBegun.self, from: body)
    }

    /// What a claim is judged by beside its numbers.
    struct Facts: Sendable {
        let hasRecentSignIn: Bool
        let proof: String?
        let isStaff: Bool
        let isDormant: Bool
    }

    /// Asked for a number without an account too, so that it takes as long.
    ///
    /// - Parameters:
    ///   - claimant: the number that the claimant proved.
    ///   - secret: the hash of the device's secret.
    ///   - identity: the hash of the identity that the claimant signed in with.
    ///   - age: seconds that a device, an identity or a number was with the account before it proves anything.
    ///   - dormantAfter: the sleep after which an account counts as dormant; `nil`: none does.
    static func facts(
        of account: Identifier?, claimant: PhoneHashes, device: Identifier?, secret: [UInt8]?, identity: [UInt8]?,
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
                hasRecentSignIn: try row.bool("has_recent"), proof: try proofs.first { try row.bool("has_\($0)") },
                isStaff: try row.bool("is_staff"), isDormant: try row.bool("is_dormant"))
        }
    }

    /// - Parameters:
    ///   - seconds: how long the freeze lasts at the most; never less than the hold.
    ///   - hold: seconds before whose end the account is not moved.
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

    // MARK: The claimant's number

    /// It may open an account of its own again.
    static func freeClaimant(of caseID: Identifier, in transaction: Transaction) {
        transaction.send(
            "UPDATE freezes SET claimant_free_at = coalesce(claimant_free_at, clock_timestamp()) WHERE case_id = $1",
            [.uuid(caseID)])
    }

    /// Whether a number claims an account at this moment, by its lasting hash.
    static func isClaiming(_ phone: [UInt8], in transaction: Transaction) async throws -> Bool {
        try await !transaction.query(claiming, [.bytes(phone)]).isEmpty
    }

    /// Whether a number claims another account at this moment than that of a case.
    static func hasOtherClaim(
        _ phone: [UInt8], but caseID: Identifier, in transaction: Transaction
    ) async throws -> Bool {
        try await !transaction.query(otherClaim, [.bytes(phone), .uuid(caseID)]).isEmpty
    }

    // MARK: Moving the account

    /// A freeze whose row is locked until the transaction ends.
    struct Locked: Sendable {
        let accountReference: String
        let claimantReference: String
        let maskedClaimantPhone: String
        let isApplied: Bool
        /// No account is moved for it any more: there is none, it was lifted, or another recovery moved the account since.
        let isOver: Bool
        /// Whole seconds before the account may be moved; 0: it may.
        let holdSeconds: Int64
    }

    /// Whose account was frozen for a case; `nil` where none was.
    static func person(of caseID: Identifier, in transaction: Transaction) async throws -> Identifier? {
        try await transaction.query("SELECT person_id FROM freezes WHERE case_id = $1", [.uuid(caseID)]).first?
            .optionalUUID("person_id")
    }

    /// - Returns: `nil` for a case that auth does not know.
    static func locked(_ caseID: Identifier, _ sealer: Sealer, in transaction: Transaction) async throws -> Locked? {
        guard let row = try await transaction.query(lockFreeze, [.uuid(caseID)]).first else { return nil }
        let begun = try opened(row, of: caseID, sealer)
        return Locked(
            accountReference: begun.accountReference, claimantReference: begun.claimantReference,
            maskedClaimantPhone: begun.maskedClaimantPhone, isApplied: try row.bool("is_applied"),
            isOver: try row.bool("is_over"), holdSeconds: try row.integer("hold_seconds"))
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

    /// Nothing that a person had before proves or hears anything any more, and identities wait for a confirmation.
    static func endDevices(of person: Identifier, in transaction: Transaction) {
        for statement in endOfDevices { transaction.send(statement, [.uuid(person)]) }
    }

    /// Until then at the least, and the account is not moved before it, whatever was written first. Recovery's longest hold is
    /// 14 days; more than 30 are not taken from it, or who broke into it could keep an account frozen for ever.
    static func extend(_ caseID: Identifier, until end: Timestamp, in transaction: Transaction) {
        transaction.send(
            """
            UPDATE freezes SET until = greatest(until, least($2, created_at + interval '30 days')),
                hold_until = greatest(hold_until, least($2, created_at + interval '30 days'))
            WHERE case_id = $1 AND ended_at IS NULL
            """, [.uuid(caseID), .timestamp(end)])
    }

    /// - Parameter rest: the account stays frozen for so long from now on, and no longer; `nil`: not at all.
    /// - Returns: the account; `nil` where none was frozen for the case.
    static func end(_ caseID: Identifier, after rest: Duration?, in transaction: Transaction) async throws
        -> Identifier?
    {
        try await transaction.query(end, [.uuid(caseID), .integer(rest?.components.seconds)]).first?
            .optionalUUID("person_id")
    }

    /// Drops the timers of a person's cases from the outbox; of somebody else's cases it drops nothing.
    static func dropTimers(
        _ destination: String, of cases: [Identifier], of person: Identifier, in transaction: Transaction
    ) { transaction.send(dropTimers, [.uuidArray(cases), .uuid(person), .text(destination)]) }

    private static let dropTimers: Statement = """
        DELETE FROM outbox WHERE id = ANY ($1) AND destination = $3
            AND EXISTS (SELECT FROM freezes f WHERE f.case_id = outbox.id AND f.person_id = $2)
        """
    private static let lock = Statement("SELECT \(AdvisoryLock.recovery.wait(for: "$1::uuid::text"))")
    /// The strongest first.
    private static let proofs = ["device", "linked_identity", "former_number"]
    /// A device is known by its secret's hash, which is worth nothing to who could time the comparison. What came to the account
    /// a moment ago proves nothing: whoever broke in may have brought it.
    private static let facts = Statement(
        """
        SELECT a.role <> 'user' AS is_staff,
            coalesce((SELECT max(\(DormancyStore.seenAt)) FROM phones p WHERE p.person_id = a.id)
                < clock_timestamp() - $5::bigint * interval '1 s', false) AS is_dormant,
            EXISTS (SELECT 1 FROM sessions s WHERE s.person_id = a.id
                AND s.otp_at > clock_timestamp() - interval '1 day') AS has_recent,
            EXISTS (SELECT 1 FROM phone_aliases p WHERE p.person_id = a.id AND \(PhoneHashes.found("p", by: "$2"))
                AND p.until > clock_timestamp() AND p.held >= age.least) AS has_former_number,
            EXISTS (SELECT 1 FROM identities i WHERE i.person_id = a.id AND i.hash = $6
                AND i.to_confirm_since IS NULL AND i.linked_at <= clock_timestamp() - age.least) AS has_linked_identity,
            EXISTS (SELECT 1 FROM devices d WHERE d.id = $3 AND d.person_id = a.id AND d.secret_hash = $4
                AND d.removed_at IS NULL AND d.created_at <= clock_timestamp() - age.least) AS has_device
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
    ]
}
