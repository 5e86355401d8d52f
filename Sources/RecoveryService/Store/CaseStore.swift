import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

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
    /// The claimant took the claim back.
    let isWithdrawn: Bool
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

    /// Whether a recovery token is that of the case.
    func isClaimant(_ token: String, of record: RecoveryCase) -> Bool {
        record.tokenHash.map { constantTimeEqual($0, secrets.hash(of: token)) } ?? false
    }

    /// The same for a wrong token and for a case that is not there.
    static var notTheClaimant: BusError { BusError(.unauthorized, "This is not a valid recovery token.") }

    /// Notes when the claimant took the claim back for the first time.
    @Loop func noteWithdrawal(of record: RecoveryCase, in transaction: Transaction) {
        transaction.send(Self.withdraw, [.uuid(record.id)])
    }

    /// Cases that were asked for from a client address within a day.
    @Loop func count(ofAddress hash: [UInt8]) async throws -> Int64 {
        try await house.database.read(Self.byAddress, [.bytes(hash)]).first?.integer("count") ?? 0
    }

    /// Gives the case a token, in place of one that it had, and the address that it was asked for from.
    ///
    /// - Parameters:
    ///   - token: its keyed hash.
    ///   - address: its keyed hash.
    @Loop func setToken(_ token: [UInt8], address: [UInt8], of id: Identifier, in transaction: Transaction) {
        transaction.send(
            "UPDATE cases SET token_hash = $2, address_hash = $3 WHERE id = $1",
            [.uuid(id), .bytes(token), .bytes(address)])
    }

    /// What became of a claim that auth began.
    enum Claim: Sendable {
        case made(RecoveryCase)
        /// The same claimant has an open case against the same account already.
        case alreadyOpen
        /// The claimant's number has had as many cases in 30 days as it may.
        case tooMany
    }

    /// Makes the case that auth began, with its timer and what its owner is told; a second call finds it made. Where no
    /// case is made, auth is told to lift the freeze that it wrote for it.
    @Loop func ensure(_ begun: RecoveryBegun, address: [UInt8]?, in transaction: Transaction) async throws -> Claim {
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
            try await close(begun.accountID, case: begun.caseID, outcome: "cancelled", at: .now(), in: transaction)
            return .tooMany
        }
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
            if let known = try await locked(begun.caseID, in: transaction) { return .made(known) }
            // or the claimant has another open case against the account.
            try await close(begun.accountID, case: begun.caseID, outcome: "cancelled", at: .now(), in: transaction)
            return .alreadyOpen
        }
        let made = try Self.record(row)
        note("requested", .held, of: made.id, in: transaction)
        setTimer(of: made, in: transaction)
        if isDecoy {
            // A barred claimant must not keep the account frozen.
            try await close(begun.accountID, case: made.id, outcome: "cancelled", at: made.now, in: transaction)
        } else if let account = begun.accountID {
            try await tellOwner(account, made, dispute, begun.maskedClaimantPhone, in: transaction)
        }
        return .made(made)
    }

    /// Parts the cases against an account from it: they are the claimants' and their trail stays, but they open nothing,
    /// and nothing in them leads to the person or their number.
    @Loop func erase(_ account: Identifier, in transaction: Transaction) {
        for statement in [Self.lift, Self.part] { transaction.send(statement, [.uuid(account)]) }
    }

    /// Has the end of the hold told, by the database's clock.
    @Loop func setTimer(of record: RecoveryCase, in transaction: Transaction) {
        house.outbox.enqueue("timer:hold-ended", payload: record.id.array, dueAt: record.holdUntil, in: transaction)
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
        if status == .disputed {
            transaction.send(
                Self.bar,
                [.text(record.accountReference), .text(record.claimantReference), .integer(RecoveryPolicy.bar)])
        }
        guard status == .disputed || status == .cancelled else { return }
        try await tellEnd(of: record, status, in: transaction)
    }

    /// A decoy opens nothing and is nothing to its account.
    @Loop private func tellEnd(
        of record: RecoveryCase, _ status: CaseStatus, in transaction: Transaction
    ) async throws {
        guard !record.isDecoy, let account = record.accountID else { return }
        try await close(account, case: record.id, outcome: status.rawValue, at: record.now, in: transaction)
        try await house.outbox.tell(
            NotifyPerson(
                notificationID: .ordered(), personID: account, kind: "recovery_\(status.rawValue)",
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
            holdUntil: try row.timestamp("hold_until"), isWithdrawn: try row.bool("is_withdrawn"),
            now: try row.timestamp("now"))
    }

    private static let columns = """
        id, account_id, account_reference, claimant_reference, is_decoy, status, token_hash, dispute_hash, created_at,
        hold_until, withdrawn_at IS NOT NULL AS is_withdrawn, clock_timestamp() AS now
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
    private static let byAddress: Statement = """
        SELECT count(*) AS count FROM cases WHERE address_hash = $1 AND created_at > clock_timestamp() - interval '1 day'
        """
    private static let claimantTurn: Statement = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))"
    private static let byClaimant: Statement = """
        SELECT count(*) AS count FROM cases
        WHERE claimant_reference = $1 AND id <> $2 AND created_at > clock_timestamp() - interval '30 days'
        """
    private static let barred: Statement = """
        SELECT until FROM bars WHERE account_reference = $1 AND claimant_reference = $2 AND until > clock_timestamp()
        """
    private static let move: Statement = """
        UPDATE cases SET status = $2, closed_at = CASE WHEN $3 THEN clock_timestamp() END WHERE id = $1
        """
    private static let withdraw: Statement = """
        UPDATE cases SET withdrawn_at = coalesce(withdrawn_at, clock_timestamp()) WHERE id = $1
        """
    private static let bar: Statement = """
        INSERT INTO bars (account_reference, claimant_reference, until)
        VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 s')
        ON CONFLICT (account_reference, claimant_reference) DO UPDATE SET until = excluded.until
        """
    private static let lift: Statement = """
        DELETE FROM bars WHERE account_reference IN (SELECT account_reference FROM cases WHERE account_id = $1)
        """
    private static let part: Statement = """
        UPDATE cases SET account_id = NULL, account_reference = 'erased ' || id, is_decoy = true, dispute_hash = ''
        WHERE account_id = $1
        """
    private static let note: Statement = """
        INSERT INTO case_trail (case_id, position, event, status)
        SELECT $1, coalesce(max(position), 0) + 1, $2, $3 FROM case_trail WHERE case_id = $1
        """
}
