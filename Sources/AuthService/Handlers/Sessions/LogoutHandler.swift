import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

struct LogoutHandler: RequestHandler {
    let inbox: Inbox
    let audit: AuditTrail

    func handle(_ request: Logout, context: RequestContext) async throws -> NoContent {
        let actor = try context.person()
        return try await inbox.once(context) { transaction in
            let chain = try await audit.chain(of: actor.userID, in: transaction)
            SessionStore.revoke(actor.sessionID, .logout, chain: chain, in: transaction)
            return .reply(NoContent())
        }
    }
}
