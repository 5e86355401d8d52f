import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import ServiceRuntime

struct GetRecoveryCaseHandler: RequestHandler {
    let store: CaseStore

    func handle(_ request: GetRecoveryCase, context: RequestContext) async throws -> RecoveryCaseView {
        guard let record = try await store.find(request.recoveryId), let known = record.tokenHash,
            constantTimeEqual(known, store.secrets.hash(of: request.recoveryToken))
        else { throw BusError(.unauthorized, "This is not a valid recovery token.") }
        return ClaimantView.view(
            status: record.status, requestedAt: record.createdAt, holdUntil: record.holdUntil, now: record.now)
    }
}

/// The owner's veto: by a session of the account, or by the token of the notification.
struct DisputeRecoveryHandler: RequestHandler {
    let store: CaseStore

    func handle(_ request: DisputeRecovery, context: RequestContext) async throws -> RecoveryDisputed {
        try await store.house.database.transaction { transaction in
            let record = try await store.locked(request.recoveryId, in: transaction)
            guard let record, isOwner(request, context, record) else {
                // A stranger does not learn whether there is such a case.
                throw context.actor == nil
                    ? BusError(.unauthorized, "This is not a valid dispute token.")
                    : BusError(.notFound, "There is no such recovery.")
            }
            switch CaseStateMachine.outcome(of: .disputed, in: record.status) {
            case .becomes(let status):
                try await store.move(record, to: status, because: "disputed", in: transaction)
            case .alreadyDone: break
            case .refused: throw BusError(.recoveryClosed, "This recovery is over and cannot be disputed any more.")
            }
            return RecoveryDisputed(status: CaseStatus.disputed.rawValue)
        }
    }

    @Loop private func isOwner(_ request: DisputeRecovery, _ context: RequestContext, _ record: RecoveryCase) -> Bool {
        guard !record.isDecoy else { return false }
        if let token = request.disputeToken {
            return constantTimeEqual(record.disputeHash, store.secrets.hash(of: token))
        }
        return context.actor?.userID == record.accountID && record.accountID != nil
    }
}

/// What became of a notification: taken in order, once.
struct NotificationDeliveredHandler: RequestHandler {
    let store: CaseStore

    func handle(_ event: NotificationDelivered, context: RequestContext) async throws -> Acknowledged {
        try await store.house.database.transaction { transaction in
            _ = try await EventPosition.accept(event, from: .auth, in: transaction)
        }
        return Acknowledged()
    }
}

/// The hold ran out: a durable timer by the database's clock says so.
struct HoldTimer: Sendable {
    let store: CaseStore

    @Loop func fire(_ item: OutboxItem) async throws {
        guard let id = Identifier(item.payload) else { return }
        try await store.house.database.transaction { transaction in
            guard let record = try await store.locked(id, in: transaction) else { return }
            // Looked at again under the lock: a timer that came early releases nothing and comes again.
            guard record.now >= record.holdUntil else { throw DatabaseError.aborted }
            if case .becomes(let status) = CaseStateMachine.outcome(of: .holdEnded, in: record.status) {
                try await store.move(record, to: status, because: "hold_ended", in: transaction)
            }
        }
    }
}
