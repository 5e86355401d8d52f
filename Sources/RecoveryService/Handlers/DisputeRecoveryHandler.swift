import BusProtocol
import BusRuntime
import Database
import EventLoop

/// Takes the owner's dispute, from a session of the account or with the token of a notice. It ends the case or makes it
/// contested: see ``DisputePolicy``.
struct DisputeRecoveryHandler: RequestHandler {
    let database: Database
    let cases: CaseWorkflow

    func handle(_ request: DisputeRecovery, context: RequestContext) async throws -> RecoveryDisputed {
        try await database.transaction { transaction in
            let record = try await CaseStore.locked(request.recoveryId, in: transaction)
            guard let record, try await isOwner(request, context, record, in: transaction) else {
                // A stranger does not learn whether the case exists.
                throw context.actor == nil
                    ? BusError(.unauthorized, "This is not a valid dispute token.")
                    : BusError(.notFound, "There is no such recovery.")
            }
            let event = DisputePolicy.event(
                hasProof: record.proof != nil, wasContested: record.contestedAt != nil,
                wasContestedLately: try await CaseStore.wasContestedLately(record, in: transaction),
                in: record.life.status)
            guard let event else { throw Self.closed }
            switch try await cases.apply(event, by: .owner, to: record, in: transaction) {
            case .moves(let life, _): return RecoveryDisputed(status: life.status.rawValue)
            case .alreadyDone: return RecoveryDisputed(status: record.life.status.rawValue)
            case .refused: throw Self.closed
            }
        }
    }

    private static let closed = BusError(.recoveryClosed, "This recovery is over and cannot be disputed any more.")

    @Loop private func isOwner(
        _ request: DisputeRecovery, _ context: RequestContext, _ record: RecoveryCase, in transaction: Transaction
    ) async throws -> Bool {
        guard !record.life.isDecoy, let account = record.accountID else { return false }
        if let token = request.disputeToken {
            return try await CaseStore.stops(cases.secrets.hash(of: token), record, in: transaction)
        }
        return context.actor?.userID == account
    }
}
