import BusProtocol
import Cryptography
import Database
import EventLoop
import ServiceRuntime

/// Does everything that belongs to a transition of a case, in one transaction.
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

    /// Whether a recovery token belongs to the case.
    func isClaimant(_ token: String, of record: RecoveryCase) -> Bool {
        record.tokenHash.map { constantTimeEqual($0, secrets.hash(of: token)) } ?? false
    }

    /// The same error for a wrong token and for an unknown case.
    static var notTheClaimant: BusError { BusError(.unauthorized, "This is not a valid recovery token.") }
    /// The error for an unknown case, and for one that the caller may not see.
    static var unknown: BusError { BusError(.notFound, "There is no such recovery.") }

    /// Applies an event to a locked case: its row, its audit trail, its notices and its timers, in one transaction.
    ///
    /// - Parameter details: codes and IDs for the audit trail.
    /// - Returns: the result. A refused event changes nothing.
    @Loop func apply(
        _ event: CaseEvent, by actor: CaseActor, to record: RecoveryCase, details: [String: String] = [:],
        in transaction: Transaction
    ) async throws -> CaseLife.Step {
        let step = record.life.after(event, by: actor)
        guard case .moves(let life, let effects) = step else { return step }
        CaseStore.move(
            record.id, to: life, expiresAfter: Self.renewing.contains(event) ? RecoveryPolicy.patience : nil,
            // In a shadow the clock causes the contest, and no owner has contested the case.
            isContested: event == .contested && actor == .owner, isEvidence: event == .evidenceGiven, in: transaction)
        note(event.rawValue, by: actor, life, of: record, details, in: transaction)
        if life.status.needsNoEvidence, !record.life.status.needsNoEvidence {
            try await outbox.publish(EvidenceEnded(personID: record.id), in: transaction)
        }
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

    /// After these events, the next party has the full time to act.
    private static let renewing: Set<CaseEvent> = [
        .holdEnded, .evidenceGiven, .contested, .approved, .completionRefused,
    ]

    @Loop private func perform(
        _ effects: Set<CaseEffect>, of event: CaseEvent, _ record: RecoveryCase, _ life: CaseLife,
        in transaction: Transaction
    ) async throws {
        // A claimant with proof may be the owner, and the person who disputed may be a thief with the phone. So only
        // reviewers, who have heard both sides, can bar such a claimant.
        if effects.contains(.claimantBarred), record.proof == nil || event == .rejected {
            let claimants = RecoveryPolicy.barred(
                contact: [record.claimantReference, record.mailboxReference], proofs: record.proofReferences,
                hasProof: record.proof != nil)
            CaseStore.bar(claimants, from: record.accountReference, for: RecoveryPolicy.bar, in: transaction)
        }
        let isFree = !record.life.seen.isClosed && life.seen.isClosed
        if effects.contains(.freezeLifted) || isFree {
            try await close(
                record.accountID, case: record.id, outcome: life.status, at: record.now,
                claimantWaits: !life.seen.isClosed, in: transaction)
        }
        guard let account = record.accountID else { return }
        // An owner who was not notified of a claim, because there were too many, is not notified of its quiet end
        // either.
        let isNews = record.told > 0 || ![.withdrawn, .neglected].contains(event)
        if effects.contains(.ownerTold), isNews {
            // An approved case can still be disputed, unless reviewers decided it after a contest.
            let isDecided = life.status != .approved || record.contestedAt != nil
            try await notifier.notify(
                "recovery_\(life.status.rawValue)", [record], of: account, isOver: isDecided, in: transaction)
        }
    }

    /// Ends `completing` with auth's result.
    ///
    /// Once the account has moved, all other claims on it are void. They were made against the previous holder, and a
    /// second approval must not move the account again.
    @Loop func applyOutcome(_ id: Identifier, as event: CaseEvent, in transaction: Transaction) async throws {
        guard let record = try await CaseStore.locked(id, in: transaction),
            case .moves = try await apply(event, by: .auth, to: record, in: transaction), event == .completed,
            let account = record.accountID
        else { return }
        // A transaction that locks several cases of an account must hold the account's advisory lock. This one does.
        for other in try await CaseStore.others(against: account, but: id, in: transaction) {
            _ = try await apply(.voided, by: .auth, to: other, in: transaction)
        }
    }

    /// Writes an act to the audit trail of a case.
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

    /// Tells auth to lift the freeze for a case. Auth also releases the claimant's number, unless the claimant waits.
    @Loop func close(
        _ account: Identifier?, case id: Identifier, outcome: CaseStatus, at: Timestamp, claimantWaits: Bool,
        in transaction: Transaction
    ) async throws {
        try await outbox.publish(
            CaseClosed(
                personID: account ?? id, caseID: id, outcome: outcome.rawValue, closedAt: at,
                claimantWaits: claimantWaits ? true : nil), in: transaction)
    }
}
