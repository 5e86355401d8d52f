import BusProtocol
import BusRuntime
import EventLoop

/// The claimant withdraws. Whether the owner said no before cannot be told from the answer, nor from what is seen after it.
struct CancelRecoveryHandler: RequestHandler {
    let store: CaseStore

    func handle(_ request: CancelRecovery, context: RequestContext) async throws -> RecoveryCancelled {
        try await store.container.database.transaction { transaction in
            let record = try await store.locked(request.recoveryId, in: transaction)
            guard let record, store.isClaimant(request.recoveryToken, of: record) else {
                throw CaseStore.notTheClaimant
            }
            if case .refused = try await store.apply(.withdrawn, by: .claimant, to: record, in: transaction) {
                throw BusError(.recoveryClosed, "This recovery is over and cannot be withdrawn any more.")
            }
            return RecoveryCancelled(status: CaseStatus.cancelled.rawValue)
        }
    }
}
