import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// The schema of recovery, step by step.
enum RecoveryMigrations {
    static let all = [
        Migration(name: "m0001_cases", sql: String(decoding: PackageResources.m0001_cases_sql, as: UTF8.self)),
        Migration(
            name: "m0002_no_requests", sql: String(decoding: PackageResources.m0002_no_requests_sql, as: UTF8.self)),
    ]
}

/// A case as its row says.
struct RecoveryCase: Sendable {
    let id: Identifier
    let accountID: Identifier?
    let accountReference: String
    let claimantReference: String
    let isDecoy: Bool
    let status: CaseStatus
    let tokenHash: [UInt8]?
    let disputeHash: [UInt8]
    let createdAt: Timestamp
    let holdUntil: Timestamp
    /// The database's clock.
    let now: Timestamp
}

/// Rows of cases, and everything that happens in the transaction of a transition.
struct CaseStore: Sendable {
    let house: ServiceHouse
    let secrets: RecoverySecrets
    let policy: RecoveryPolicy

    /// The case, locked until the transaction ends.
    @Loop func locked(_ id: Identifier, in transaction: Transaction) async throws -> RecoveryCase? {
        try await transaction.query(Self.lock, [.uuid(id)]).first.map { try Self.record($0) }
    }

    @Loop func find(_ id: Identifier) async throws -> RecoveryCase? {
        try await house.database.read(Self.load, [.uuid(id)]).first.map { try Self.record($0) }
    }

    /// Makes the case that auth began, with its timer and what its owner is told; a second call finds it made.
    ///
    /// - Returns: `nil` where the same claimant has an open case against the same account already.
    @Loop func ensure(_ begun: RecoveryBegun, address: [UInt8]?, in transaction: Transaction) async throws
        -> RecoveryCase?
    {
        if let known = try await locked(begun.caseID, in: transaction) { return known }
        let isBarred = try await !transaction.query(
            Self.barred, [.text(begun.accountReference), .text(begun.claimantReference)]
        ).isEmpty
        let isDecoy = begun.accountID == nil || isBarred
        let dispute = SecretToken.make(prefix: "dt")
        let rows = try await transaction.query(
            Self.insert,
            [
                .uuid(begun.caseID), .uuid(begun.accountID), .text(begun.accountReference),
                .text(begun.claimantReference),
                .bool(isDecoy), .bytes(secrets.hash(of: dispute)), .bytes(address), .integer(policy.hold),
            ])
        guard let row = rows.first else {
            // Either auth's event and the claimant's answer met here, and the other made the case a moment ago,
            if let known = try await locked(begun.caseID, in: transaction) { return known }
            // or the claimant has another open case against the account.
            try await close(begun.accountID, case: begun.caseID, outcome: "cancelled", at: .now(), in: transaction)
            return nil
        }
        let made = try Self.record(row)
        note("requested", .held, of: made.id, in: transaction)
        house.outbox.enqueue(
            "timer:hold-ended", payload: made.id.array, dueAt: made.holdUntil, in: transaction)
        if isDecoy {
            // A barred claimant must not keep the account frozen.
            try await close(begun.accountID, case: made.id, outcome: "cancelled", at: made.now, in: transaction)
        } else if let account = begun.accountID {
            try await tellOwner(account, made, dispute, begun.maskedClaimantPhone, in: transaction)
        }
        return made
    }

    @Loop private func tellOwner(
        _ account: Identifier, _ made: RecoveryCase, _ disputeToken: String, _ phone: String,
        in transaction: Transaction
    ) async throws {
        try await house.outbox.tell(
            CaseOpened(personID: account, caseID: made.id, holdUntil: made.holdUntil), in: transaction)
        let data = [
            "recoveryId": made.id.description, "disputeToken": disputeToken, "holdUntil": made.holdUntil.description,
            "claimantPhone": phone,
        ]
        try await house.outbox.tell(
            NotifyPerson(notificationID: .ordered(), personID: account, kind: "recovery_requested", data: data),
            in: transaction)
    }

    @Loop private func close(
        _ account: Identifier?, case id: Identifier, outcome: String, at: Timestamp, in transaction: Transaction
    ) async throws {
        guard let account else { return }
        try await house.outbox.tell(
            CaseClosed(personID: account, caseID: id, outcome: outcome, closedAt: at), in: transaction)
    }

    /// Moves a locked case by the table of ``CaseStateMachine``.
    @Loop func move(
        _ record: RecoveryCase, to status: CaseStatus, because event: String, in transaction: Transaction
    ) async throws {
        transaction.send(Self.move, [.uuid(record.id), .text(status.rawValue), .bool(status.isClosed)])
        note(event, status, of: record.id, in: transaction)
        guard status == .disputed else { return }
        transaction.send(
            Self.bar,
            [.text(record.accountReference), .text(record.claimantReference), .integer(RecoveryPolicy.bar)])
        try await close(record.accountID, case: record.id, outcome: "disputed", at: record.now, in: transaction)
        guard let account = record.accountID else { return }
        try await house.outbox.tell(
            NotifyPerson(
                notificationID: .ordered(), personID: account, kind: "recovery_disputed",
                data: ["recoveryId": record.id.description]), in: transaction)
    }

    @Loop func note(_ event: String, _ status: CaseStatus, of id: Identifier, in transaction: Transaction) {
        transaction.send(Self.note, [.uuid(id), .text(event), .text(status.rawValue)])
    }

    private static func record(_ row: Row) throws -> RecoveryCase {
        guard let status = CaseStatus(rawValue: try row.text("status")) else {
            throw DatabaseError.unreadable(column: "status")
        }
        return RecoveryCase(
            id: try row.uuid("id"), accountID: try row.optionalUUID("account_id"),
            accountReference: try row.text("account_reference"), claimantReference: try row.text("claimant_reference"),
            isDecoy: try row.bool("is_decoy"), status: status, tokenHash: try row.optionalBytes("token_hash"),
            disputeHash: try row.bytes("dispute_hash"), createdAt: try row.timestamp("created_at"),
            holdUntil: try row.timestamp("hold_until"), now: try row.timestamp("now"))
    }

    private static let columns = """
        id, account_id, account_reference, claimant_reference, is_decoy, status, token_hash, dispute_hash, created_at,
        hold_until, clock_timestamp() AS now
        """
    private static let load = Statement("SELECT \(columns) FROM cases WHERE id = $1")
    private static let lock = Statement("SELECT \(columns) FROM cases WHERE id = $1 FOR UPDATE")
    private static let insert = Statement(
        """
        INSERT INTO cases (id, account_id, account_reference, claimant_reference, is_decoy, status, dispute_hash,
            address_hash, hold_until)
        VALUES ($1, $2, $3, $4, $5, 'held', $6, $7, clock_timestamp() + $8::bigint * interval '1 s')
        ON CONFLICT DO NOTHING RETURNING \(columns)
        """)
    private static let barred: Statement = """
        SELECT until FROM bars WHERE account_reference = $1 AND claimant_reference = $2 AND until > clock_timestamp()
        """
    private static let move: Statement = """
        UPDATE cases SET status = $2, closed_at = CASE WHEN $3 THEN clock_timestamp() END WHERE id = $1
        """
    private static let bar: Statement = """
        INSERT INTO bars (account_reference, claimant_reference, until)
        VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 s')
        ON CONFLICT (account_reference, claimant_reference) DO UPDATE SET until = excluded.until
        """
    private static let note: Statement = """
        INSERT INTO case_trail (case_id, position, event, status)
        SELECT $1, coalesce(max(position), 0) + 1, $2, $3 FROM case_trail WHERE case_id = $1
        """
}
