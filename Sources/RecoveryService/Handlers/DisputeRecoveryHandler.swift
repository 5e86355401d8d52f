import BusProtocol
import BusRuntime
import Cryptography
import EventLoop

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
            if case .refused = try await store.happen(.disputed, by: .owner, to: record, in: transaction) {
                throw BusError(.recoveryClosed, "This recovery is over and cannot be disputed any more.")
            }
            return RecoveryDisputed(status: CaseStatus.disputed.rawValue)
        }
    }

    @Loop private func isOwner(_ request: DisputeRecovery, _ context: RequestContext, _ record: RecoveryCase) -> Bool {
        guard !record.life.isDecoy else { return false }
        if let token = request.disputeToken {
            return constantTimeEqual(record.disputeHash, store.secrets.hash(of: token))
        }
        return context.actor?.userID == record.accountID && record.accountID != nil
    }
}
