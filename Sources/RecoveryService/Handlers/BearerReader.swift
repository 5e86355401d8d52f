import BusProtocol
import BusRuntime
import EventLoop
import ServiceRuntime

/// Asks auth for the person of an access token and whether the session is alive. The gateway's word alone is not
/// enough.
struct BearerReader: Sendable {
    let bus: Bus

    /// - Throws: ``BusError`` `unauthorized`.
    @Loop func bearer(of context: RequestContext) async throws(BusError) -> BearerChecked {
        let actor = try context.person()
        guard let token = context.accessToken else { throw BusError(.unauthorized, "Please sign in.") }
        let checked = try await bus.call(
            CheckBearer(accessToken: token), CallOptions(timeout: context.remaining, trace: context.trace.child()))
        // Auth does not say the app, which decides about nothing here.
        let known = Actor(userID: checked.userID, sessionID: checked.sessionID, role: checked.role, app: actor.app)
        guard known == actor else {
            throw BusError(.unauthorized, "Please sign in.")
        }
        return checked
    }
}
