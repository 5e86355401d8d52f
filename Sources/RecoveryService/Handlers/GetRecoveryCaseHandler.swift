import BusProtocol
import BusRuntime
import Database
import EventLoop

struct GetRecoveryCaseHandler: RequestHandler {
    let database: Database
    let cases: CaseWorkflow

    func handle(_ request: GetRecoveryCase, context: RequestContext) async throws -> RecoveryCaseView {
        guard let record = try await CaseStore.find(request.recoveryId, in: database),
            cases.isClaimant(request.recoveryToken, of: record)
        else { throw CaseWorkflow.notTheClaimant }
        return ClaimantView.view(
            seen: record.life.seen, requestedAt: record.createdAt, holdUntil: record.holdUntil, now: record.now)
    }
}
