import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

struct CheckSessionHandler: RequestHandler {
    let database: Database

    func handle(_ request: CheckSession, context: RequestContext) async throws -> SessionChecked {
        SessionChecked(isActive: try await SessionStore.isActive(request.sessionID, in: database))
    }
}
