import BusProtocol
import BusRuntime
import Database
import EventLoop

/// Withdraws a claim. Neither the reply nor a later view tells the claimant whether the owner disputed before.
struct CancelRecoveryHandler: RequestHandler {
    let database: Database
    let cases: CaseWorkflow

    func handle(_ request: CancelRecovery, context: RequestContext) async throws -> RecoveryCancelled {
        try await database.transaction { transaction in
            let record = try await CaseStore.locked(request.recoveryId, in: transaction)
            guard let record, cases.isClaimant(request.recoveryToken, of: record) else {
                throw CaseWorkflow.notTheClaimant
            }
            if case .refused = try await cases.apply(.withdrawn, by: .claimant, to: record, in: transaction) {
                throw BusError(.recoveryClosed, "This recovery is over and cannot be withdrawn any more.")
            }
            return RecoveryCancelled(status: CaseStatus.cancelled.rawValue)
        }
    }
}
