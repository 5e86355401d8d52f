import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Reports whether a code's SMS or email was sent. Only the client that requested the code knows the challenge's id.
struct GetCodeDeliveryHandler: RequestHandler {
    let database: Database
    let limits: ChallengeLimits

    func handle(_ request: GetCodeDelivery, context: RequestContext) async throws -> CodeDelivery {
        guard let state = try await CodeStateStore.read(request.challengeId, in: database) else {
            throw BusError(.notFound, "There is no such code.")
        }
        return state.delivery(resendAfter: limits.resendAfter)
    }
}
