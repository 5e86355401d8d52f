import BusProtocol
import Cryptography
import Database
import EventLoop
import ServiceRuntime

/// Rows of cases, and everything that happens in the transaction of a transition.
struct CaseStore: Sendable {
    let container: ServiceContainer
    let secrets: RecoverySecrets
    let policy: RecoveryPolicy

    var notifier: OwnerNotifier { OwnerNotifier(container: container, secrets: secrets) }

    static let holdTimer = "timer:hold-ended"
    static let neglectTimer = "timer:neglected"
    static let decoyTimer = "timer:decoy-decided"

    /// The case, locked until the transaction ends: the account's turn first, as everywhere.
    @Loop func locked(_ id: Identifier, in transaction: Transaction) async throws -> RecoveryCase? {
        transaction.send(Self.turn, [.uuid(id)])
        return try await locked(behindItsTurn: id, in: transaction)
    }

    /// The case, locked until the transaction ends, which has its account's turn already.
    @Loop func locked(behindItsTurn id: Identifier, in transaction: Transaction) async throws -> RecoveryCase? {
        try await transaction.query(Self.lock, [.uuid(id)]).first.map { try RecoveryCase($0) }
    }

    @Loop func find(_ id: Identifier) async throws -> RecoveryCase? {
        try await container.database.read(Self.load, [.uuid(id)]).first.map { try RecoveryCase($0) }
    }

    /// Whether a recovery token is that of the case.
    func isClaimant(_ token: String, of record: RecoveryCase) -> Bool {
        record.tokenHash.map { constantTimeEqual($0, secrets.hash(of: token)) } ?? false
    }

    /// The same for a wrong token and for a case that is not there.
    static var notTheClaimant: BusError { BusError(.unauthorized, "This is not a valid recovery token.") }

    // MARK: What happens

    /// Has something happen to a locked case: its row, its trail, whoever is told and its timers, in one transaction.
    ///
    /// - Parameter details: codes and ids for the trail.
    /// - Returns: what became of it; a step that is refused leaves everything as it is.
    @Loop func apply(
        _ event: CaseEvent, by actor: CaseActor, to record: RecoveryCase, details: [String: String] = [:],
        in transaction: Transaction
    ) async throws -> CaseLife.Step {
        let step = record.life.after(event, by: actor)
        guard case .moves(let life, let effects) = step else { return step }
        transaction.send(
            Self.move,
            [
                .uuid(record.id), .text(life.status.rawValue), .text(life.shadow?.rawValue),
                .bool(life.status.isClosed), .bool(life.seen.isClosed),
                .integer(Self.renewing.contains(event) ? RecoveryPolicy.patience : nil),
                // In a shadow the clock says it, and nobody is heard.
                .bool(event == .contested && actor == .owner), .bool(event == .evidenceGiven),
            ])
        note(event.rawValue, by: actor, life, of: record, details, in: transaction)
        if event == .holdEnded || event == .completionRefused {
            setTimer(Self.neglectTimer, of: record, at: record.now + .seconds(RecoveryPolicy.patience), in: transaction)
        }
        if life.isDecidedByClock, [.inReview, .approved].contains(life.seen) {
            let rows = try await transaction.query(Self.decisions)
            let delay = DecoyDelay.seconds(
                like: try rows.map { try $0.integer("seconds") }, by: UInt64.random(in: 0...UInt64.max))
            setTimer(Self.decoyTimer, of: record, at: record.now + .seconds(delay), in: transaction)
        }
        try await perform(effects, of: event, record, life, in: transaction)
        return step
    }

    /// After these somebody has as long as anybody has to act.
    private static let renewing: Set<CaseEvent> = [
        .holdEnded, .evidenceGiven, .contested, .approved, .completionRefused,
    ]

    @Loop private func perform(
        _ effects: Set<CaseEffect>, of event: CaseEvent, _ record: RecoveryCase, _ life: CaseLife,
        in transaction: Transaction
    ) async throws {
        // Who has shown what a stranger cannot may be the owner: the one who said no may be the thief with the phone. Once both
        // sides were heard, reviewers know.
        if effects.contains(.claimantBarred), record.proof == nil || event == .rejected {
            transaction.send(
                Self.bar,
                [.text(record.accountReference), .text(record.claimantReference), .integer(RecoveryPolicy.bar)])
        }
        let isFree = !record.life.seen.isClosed && life.seen.isClosed
        if effects.contains(.freezeLifted) || isFree {
            try await close(
                record.accountID, case: record.id, outcome: life.status.rawValue, at: record.now,
                claimantWaits: !life.seen.isClosed, in: transaction)
        }
        guard let account = record.accountID else { return }
        // Who never heard of a claim, since there were so many, needs not hear that it is over.
        let isNews = record.told > 0 || ![.withdrawn, .neglected].contains(event)
        if effects.contains(.ownerTold), isNews {
            // What reviewers decided over both sides is not stopped by one of them.
            let isDecided = life.status != .approved || record.contestedAt != nil
            try await notifier.notify(
                "recovery_\(life.status.rawValue)", [record], of: account, isOver: isDecided, in: transaction)
        }
    }

    /// Ends `completing` by auth's word. Where the account was moved, every other claim on it is over: it was made against
    /// whoever had the account before, and a second approval must not move it again.
    @Loop func applyOutcome(_ id: Identifier, as event: CaseEvent, in transaction: Transaction) async throws {
        guard let record = try await locked(id, in: transaction),
            case .moves = try await apply(event, by: .auth, to: record, in: transaction), event == .completed,
            let account = record.accountID
        else { return }
        // In the account's turn, as whoever locks one of these.
        for row in try await transaction.query(Self.others, [.uuid(account), .uuid(id)]) {
            _ = try await apply(.voided, by: .auth, to: try RecoveryCase(row), in: transaction)
        }
    }

    /// Writes down what happened to a case.
    @Loop func note(
        _ act: String, by actor: CaseActor, _ life: CaseLife, of record: RecoveryCase,
        _ details: [String: String] = [:],
        in transaction: Transaction
    ) {
        var details = details.merging(["by": actor.rawValue, "status": life.status.rawValue]) { $1 }
        details["shown"] = life.shadow?.rawValue
        container.audit.note(AuditAct(act, details), on: record.chain, in: transaction)
    }

    @Loop func setTimer(
        _ timer: String, of record: RecoveryCase, at due: Timestamp, in transaction: Transaction
    ) {
        container.outbox.enqueue(timer, payload: record.id.array, dueAt: due, in: transaction)
    }

    /// Auth lifts the freeze that it wrote for a case, and lets the claimant's number go unless the claimant waits.
    @Loop func close(
        _ account: Identifier?, case id: Identifier, outcome: String, at: Timestamp, claimantWaits: Bool,
        in transaction: Transaction
    ) async throws {
        try await container.outbox.publish(
            CaseClosed(
                personID: account ?? id, caseID: id, outcome: outcome, closedAt: at,
                claimantWaits: claimantWaits ? true : nil), in: transaction)
    }

    /// Parts the cases against an account from it: they are the claimants' and their trail stays, but they open nothing,
    /// and nothing in them leads to the person or their number.
    @Loop func erase(_ account: Identifier, in transaction: Transaction) {
        for statement in Self.erasure { transaction.send(statement, [.uuid(account)]) }
    }

    private static let turn = Statement("SELECT \(Erasure.wait(forPersonIn: "account_id")) FROM cases WHERE id = $1")
    private static let load = Statement("SELECT \(RecoveryCase.columns) FROM cases WHERE id = $1")
    private static let lock = Statement("SELECT \(RecoveryCase.columns) FROM cases WHERE id = $1 FOR UPDATE")
    private static let others = Statement(
        """
        SELECT \(RecoveryCase.columns) FROM cases
        WHERE account_id = $1 AND id <> $2 AND closed_at IS NULL AND NOT is_decoy ORDER BY created_at FOR UPDATE
        """)
    /// Who said yes before the owner contested it has heard one side only: two say so again.
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
    /// Seconds that the last decisions took.
    private static let decisions: Statement = """
        SELECT extract(epoch FROM decided_at - evidence_at)::bigint AS seconds FROM cases
        WHERE decided_at IS NOT NULL AND NOT is_decoy ORDER BY decided_at DESC LIMIT 50
        """
    private static let bar: Statement = """
        INSERT INTO bars (account_reference, claimant_reference, until)
        VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 s')
        ON CONFLICT (account_reference, claimant_reference) DO UPDATE SET until = excluded.until
        """
    /// At last the cases themselves. Nobody decides upon them any more: what was about to open the account is over, and what
    /// is shown becomes the truth.
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
            status = CASE WHEN shadow IS NOT NULL THEN shadow WHEN status IN ('approved', 'completing') THEN 'rejected'
                ELSE status END,
            seen_closed_at = CASE WHEN status IN ('approved', 'completing') THEN clock_timestamp() ELSE seen_closed_at END,
            closed_at = CASE WHEN status IN ('approved', 'completing') THEN clock_timestamp() ELSE seen_closed_at END,
            shadow = NULL
        WHERE account_id = $1
        """,
    ]
}
