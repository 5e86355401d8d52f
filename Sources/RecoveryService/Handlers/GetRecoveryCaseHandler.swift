import BusProtocol
import BusRuntime
import Cryptography
import EventLoop

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
