import BusProtocol
import BusRuntime
import EventLoop
import ServiceRuntime

struct LogoutHandler: RequestHandler {
    let container: ServiceContainer

    func handle(_ request: Logout, context: RequestContext) async throws -> NoContent {
        let actor = try context.person()
        return try await container.once(context) { transaction in
            let chain = try await container.audit.chain(of: actor.userID, in: transaction)
            SessionStore.revoke(actor.sessionID, .logout, chain: chain, in: transaction)
            return .reply(NoContent())
        }
    }
}
