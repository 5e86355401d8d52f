import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import ServiceRuntime

/// Completes an approved case.
///
/// It makes the case `completing` before it asks auth, so that no dispute comes in between. Auth's reply, its event or
/// its answer to a later check ends that status.
///
/// Recovery also asks auth for a case that only looks approved. Auth verifies the code as usual and replies that the
/// recovery is over.
struct CompleteRecoveryHandler: RequestHandler {
    let database: Database
    let inbox: Inbox
    let bus: Bus
    let cases: CaseWorkflow

    /// The seconds after which recovery asks auth for the result of an attempt. Every attempt has ended long before
    /// then.
    static let settleAfter: Int64 = 30
    /// How long an attempt waits for auth.
    private static let patience = Duration.seconds(5)

    func handle(_ request: CompleteRecovery, context: RequestContext) async throws -> Session {
        try await inbox.refuseReuse(context.inboxRequest)
        guard try await begin(request) else {
            // A repeat gets the first reply for as long as the inbox keeps it.
            return try await inbox.once(context, carriesToken: true) { _ in throw Self.closed }
        }
        let moved: RecoveryMoved
        var options = CallOptions(
            timeout: min(Self.patience, context.remaining), trace: context.trace.child(),
            idempotencyKey: "recovery-apply-\(request.recoveryId)-\(attempt(request))")
        options.language = context.language
        do throws(BusError) {
            moved = try await bus.call(
                ApplyRecovery(
                    caseID: request.recoveryId, challengeID: request.challengeId, code: request.code,
                    device: request.device), options)
        } catch {
            throw try await endAttempt(request, after: error)
        }
        return try await inbox.once(context, carriesToken: true) { transaction in
            try await cases.applyOutcome(request.recoveryId, as: .completed, in: transaction)
            return .reply(moved.session)
        }
    }

    private static let closed = BusError(.recoveryClosed, "This recovery is over.")

    /// Names the reason to wait: the hold, the claimant or a reviewer. It uses only facts that the claimant can see.
    private static func notReady(_ record: RecoveryCase) -> BusError {
        let left = ClaimantView.seconds(from: record.now, until: record.holdUntil)
        if left > 0 {
            return BusError(
                .recoveryNotReady, "This recovery is not approved yet. Please come back later.",
                retryAfter: .seconds(left))
        }
        // The claimant need not wait before sending evidence.
        guard record.life.seen == .inReview else {
            return BusError(.recoveryNotReady, "Please send your evidence first.", retryAfter: .seconds(1))
        }
        // Nobody knows when a reviewer decides, so more frequent requests are of no use.
        return BusError(
            .recoveryNotReady, "Your evidence is in review. Please come back later.", retryAfter: .seconds(3600))
    }

    /// - Returns: false if the case is completed.
    @Loop private func begin(_ request: CompleteRecovery) async throws -> Bool {
        try await database.transaction { transaction in
            let record = try await CaseStore.locked(request.recoveryId, in: transaction)
            guard let record, cases.isClaimant(request.recoveryToken, of: record), isDevice(request.device, record)
            else {
                throw CaseWorkflow.notTheClaimant
            }
            if record.life.seen == .completed { return false }
            if record.life.seen == .completing {
                guard record.attempt == attempt(request) else {
                    throw BusError(
                        .requestInProgress, "Your recovery is being completed. Please try again in a moment.",
                        retryAfter: .seconds(Self.settleAfter))
                }
                noteAttempt(request, in: transaction)
                return true
            }
            switch try await cases.apply(.completionBegun, by: .claimant, to: record, in: transaction) {
            case .moves, .alreadyDone: break
            case .refused(.tooEarly): throw Self.notReady(record)
            case .refused: throw Self.closed
            }
            noteAttempt(request, in: transaction)
            let due = record.now + .seconds(Self.settleAfter)
            cases.setTimer(CaseWorkflow.completionTimer, of: record, at: due, in: transaction)
            return true
        }
    }

    @Loop private func noteAttempt(_ request: CompleteRecovery, in transaction: Transaction) {
        CaseStore.noteAttempt(attempt(request), of: request.recoveryId, in: transaction)
    }

    /// The token is days old by now, so the secret of the claimant's device is required, too.
    private func isDevice(_ device: DeviceClaim, _ record: RecoveryCase) -> Bool {
        guard let secret = device.secret, let hash = record.deviceHash else { return false }
        return constantTimeEqual(hash, cases.secrets.hash(of: secret))
    }

    /// The attempt with this challenge and code. A repeat is the same attempt.
    private func attempt(_ request: CompleteRecovery) -> Identifier {
        .derived(from: cases.secrets.hash(of: "\(request.challengeId)\n\(request.code)"))
    }

    /// Ends the attempt if auth's error is final. After any other error auth may have moved the account, or a repeat
    /// may still be running.
    @Loop private func endAttempt(_ request: CompleteRecovery, after error: BusError) async throws -> BusError {
        let id = request.recoveryId
        if error.code == ErrorCode.idempotencyAnswerGone.name {
            let answer = try await bus.call(CheckRecovery(caseID: id), CallOptions(timeout: .seconds(2)))
            if answer.isApplied { try await applyOutcome(id, as: .completed, attempt: nil) }
            return error
        }
        guard ApplyRecovery.rules.errors.contains(where: { $0.name == error.code }) else { return error }
        let isOver = error.code == ErrorCode.recoveryClosed.name
        try await applyOutcome(id, as: isOver ? .voided : .completionRefused, attempt: attempt(request))
        var refusal = error
        // The attempt was written to the audit trail.
        refusal.executed = .yes
        return refusal
    }

    /// - Parameter attempt: the attempt that ends. A newer attempt continues. `nil` means any attempt.
    @Loop private func applyOutcome(_ id: Identifier, as event: CaseEvent, attempt: Identifier?) async throws {
        try await database.transaction { transaction in
            let record = try await CaseStore.locked(id, in: transaction)
            guard attempt == nil || record?.attempt == attempt else { return }
            try await cases.applyOutcome(id, as: event, in: transaction)
        }
    }
}

/// Completes the case from auth's event if auth's reply was lost.
struct RecoveryAppliedHandler: RequestHandler {
    let database: Database
    let cases: CaseWorkflow

    func handle(_ event: RecoveryApplied, context: RequestContext) async throws -> Acknowledged {
        try await database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .auth, in: transaction) else { return }
            try await cases.applyOutcome(event.caseID, as: .completed, in: transaction)
        }
        return Acknowledged()
    }
}

/// Asks auth for the result of an attempt if no result has arrived.
struct CompletionReconciler: Sendable {
    let database: Database
    let bus: Bus
    let cases: CaseWorkflow

    @Loop func reconcile(_ item: OutboxItem) async throws {
        guard let id = Identifier(item.payload) else { return }
        guard let record = try await CaseStore.find(id, in: database), record.life.seen == .completing else { return }
        let answer = try? await bus.call(CheckRecovery(caseID: id), CallOptions(timeout: .seconds(4)))
        try await database.transaction { transaction in
            guard let record = try await CaseStore.locked(id, in: transaction) else { return }
            // A repeat of the attempt may still be on its way to auth.
            let since = record.attemptAt ?? record.createdAt
            let isQuiet = record.now - since >= .seconds(CompleteRecoveryHandler.settleAfter)
            if let answer, isQuiet || answer.isApplied {
                let event: CaseEvent = answer.isApplied ? .completed : .completionRefused
                return try await cases.applyOutcome(id, as: event, in: transaction)
            }
            // Auth is unavailable, or the attempt is too recent. The timer asks again until there is a result.
            let due = record.now + .seconds(CompleteRecoveryHandler.settleAfter)
            cases.setTimer(CaseWorkflow.completionTimer, of: record, at: due, in: transaction)
        }
    }
}
