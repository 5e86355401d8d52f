import BusProtocol
import BusRuntime
import EventLoop

struct GetRecoveryCaseHandler: RequestHandler {
    let store: CaseStore

    func handle(_ request: GetRecoveryCase, context: RequestContext) async throws -> RecoveryCaseView {
        guard let record = try await store.find(request.recoveryId), store.isClaimant(request.recoveryToken, of: record)
        else { throw CaseStore.notTheClaimant }
        return ClaimantView.view(
            seen: record.life.seen, requestedAt: record.createdAt, holdUntil: record.holdUntil, now: record.now)
    }
}
