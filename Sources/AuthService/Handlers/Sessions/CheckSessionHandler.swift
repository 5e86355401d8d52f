import BusProtocol
import BusRuntime
import EventLoop
import ServiceRuntime

struct CheckSessionHandler: RequestHandler {
    let container: ServiceContainer

    func handle(_ request: CheckSession, context: RequestContext) async throws -> SessionChecked {
        SessionChecked(isActive: try await SessionStore.isActive(request.sessionID, in: container.database))
    }
}
