import BusProtocol
import Database

/// A row of the table of cases.
struct RecoveryCase: Sendable {
    let id: Identifier
    let accountID: Identifier?
    let accountReference: String
    let claimantReference: String
    let mailboxReference: String?
    let proofReferences: [String]
    let life: CaseLife
    let tokenHash: [UInt8]?
    let createdAt: Timestamp
    let holdUntil: Timestamp
    /// When the case expires unless somebody acts; `nil` while it is held.
    let expiresAt: Timestamp?
    /// The last ``NoticePlan/Stage`` of which the owner was notified; 0 if there was none.
    let told: Int64
    /// ``ClaimFacts``, encrypted.
    let factsSealed: [UInt8]?
    /// The earliest time at which a reviewer may decide the case; `nil` if the end of the hold is enough.
    let decidedFrom: Timestamp?
    /// The claimant's proof that no stranger could have: `device`, `linked_identity` or `former_number`.
    let proof: String?
    let isOfStaff: Bool
    let contestedAt: Timestamp?
    /// The keyed hash of the secret of the claimant's device.
    let deviceHash: [UInt8]?
    /// The current attempt to complete the case.
    let attempt: Identifier?
    /// When the attempt was started or last repeated.
    let attemptAt: Timestamp?
    /// Until when the claimant needs no other code to send a picture; `nil` if there was none.
    let provenUntil: Timestamp?
    /// The database's time when the row was read.
    let now: Timestamp

    /// Whether the claimant gave a code lately.
    var isProven: Bool { provenUntil.map { $0 > now } ?? false }
    /// The audit chain of the case.
    var chain: AuditChain { .thing("case", id) }

    static let columns = """
        id, account_id, account_reference, claimant_reference, mailbox_reference, proof_references, is_decoy, status,
        shadow, token_hash, created_at, hold_until, decided_from, expires_at, told, facts_sealed, proof, is_of_staff,
        contested_at, device_hash, attempt, attempt_at, proven_until, clock_timestamp() AS now
        """

    init(_ row: Row) throws {
        id = try row.uuid("id")
        accountID = try row.optionalUUID("account_id")
        accountReference = try row.text("account_reference")
        claimantReference = try row.text("claimant_reference")
        mailboxReference = try row.optionalText("mailbox_reference")
        proofReferences = try row.textArray("proof_references")
        life = CaseLife(
            status: try Self.status(row, "status"),
            shadow: try row.optionalText("shadow") == nil ? nil : Self.status(row, "shadow"),
            isDecoy: try row.bool("is_decoy"))
        tokenHash = try row.optionalBytes("token_hash")
        createdAt = try row.timestamp("created_at")
        holdUntil = try row.timestamp("hold_until")
        decidedFrom = try row.optionalTimestamp("decided_from")
        expiresAt = try row.optionalTimestamp("expires_at")
        told = try row.integer("told")
        factsSealed = try row.optionalBytes("facts_sealed")
        proof = try row.optionalText("proof")
        isOfStaff = try row.bool("is_of_staff")
        deviceHash = try row.optionalBytes("device_hash")
        attempt = try row.optionalUUID("attempt")
        attemptAt = try row.optionalTimestamp("attempt_at")
        provenUntil = try row.optionalTimestamp("proven_until")
        contestedAt = try row.optionalTimestamp("contested_at")
        now = try row.timestamp("now")
    }

    private static func status(_ row: Row, _ column: String) throws -> CaseStatus {
        guard let status = CaseStatus(rawValue: try row.text(column)) else {
            throw DatabaseError.unreadable(column: column)
        }
        return status
    }
}
