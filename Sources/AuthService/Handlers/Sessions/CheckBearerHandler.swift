import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

struct CheckBearerHandler: RequestHandler {
    let database: Database
    let bearer: BearerChecker

    func handle(_ request: CheckBearer, context: RequestContext) async throws -> BearerChecked {
        let actor = try bearer.actor(of: request.accessToken)
        guard let isFresh = try await SessionStore.freshness(of: actor, in: database) else {
            throw BusError(.unauthorized, "Please sign in.")
        }
        return BearerChecked(
            userID: actor.userID, sessionID: actor.sessionID, role: actor.role, isFresh: isFresh)
    }
}
