import BusProtocol
import Cryptography
import Database
import EventLoop
import ServiceRuntime

/// Everything that happens in the transaction of a case's transition.
struct CaseWorkflow: Sendable {
    let outbox: Outbox
    let audit: AuditTrail
    let secrets: RecoverySecrets
    let policy: RecoveryPolicy
    let notifier: OwnerNotifier

    static let holdTimer = "timer:hold-ended"
    static let neglectTimer = "timer:neglected"
    static let decoyTimer = "timer:decoy-decided"
    static let completionTimer = "timer:completion"

    /// Whether a recovery token is that of the case.
    func isClaimant(_ token: String, of record: RecoveryCase) -> Bool {
        record.tokenHash.map { constantTimeEqual($0, secrets.hash(of: token)) } ?? false
    }

    /// The same for a wrong token and for a case that is not there.
    static var notTheClaimant: BusError { BusError(.unauthorized, "This is not a valid recovery token.") }
    /// Of a case that is not there, or not the asker's to see.
    static var unknown: BusError { BusError(.notFound, "There is no such recovery.") }

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
        CaseStore.move(
            record.id, to: life, expiresAfter: Self.renewing.contains(event) ? RecoveryPolicy.patience : nil,
            // In a shadow the clock says it, and nobody is heard.
            isContested: event == .contested && actor == .owner, isEvidence: event == .evidenceGiven, in: transaction)
        note(event.rawValue, by: actor, life, of: record, details, in: transaction)
        if event == .holdEnded || event == .completionRefused {
            setTimer(Self.neglectTimer, of: record, at: record.now + .seconds(RecoveryPolicy.patience), in: transaction)
        }
        if life.isDecidedByClock, [.inReview, .approved].contains(life.seen) {
            let delay = DecoyDelay.seconds(
                like: try await CaseStore.decisionSeconds(in: transaction), by: .random(in: 0...UInt64.max))
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
            CaseStore.bar(record, for: RecoveryPolicy.bar, in: transaction)
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
        guard let record = try await CaseStore.locked(id, in: transaction),
            case .moves = try await apply(event, by: .auth, to: record, in: transaction), event == .completed,
            let account = record.accountID
        else { return }
        // In the account's turn, as whoever locks one of these.
        for other in try await CaseStore.others(against: account, but: id, in: transaction) {
            _ = try await apply(.voided, by: .auth, to: other, in: transaction)
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
        audit.note(AuditAct(act, details), on: record.chain, in: transaction)
    }

    @Loop func setTimer(
        _ timer: String, of record: RecoveryCase, at due: Timestamp, in transaction: Transaction
    ) {
        outbox.enqueue(timer, payload: record.id.array, dueAt: due, in: transaction)
    }

    /// Auth lifts the freeze that it wrote for a case, and lets the claimant's number go unless the claimant waits.
    @Loop func close(
        _ account: Identifier?, case id: Identifier, outcome: String, at: Timestamp, claimantWaits: Bool,
        in transaction: Transaction
    ) async throws {
        try await outbox.publish(
            CaseClosed(
                personID: account ?? id, caseID: id, outcome: outcome, closedAt: at,
                claimantWaits: claimantWaits ? true : nil), in: transaction)
    }
}
