import BusProtocol
import BusRuntime
import EventLoop
import ServiceRuntime

/// Finds out who asks: whose the access token is, and that its session lives, by auth's own word and not by a gateway's alone.
struct BearerReader: Sendable {
    let bus: Bus

    /// - Throws: ``BusError`` `unauthorized`.
    @Loop func bearer(of context: RequestContext) async throws(BusError) -> BearerChecked {
        let actor = try context.person()
        guard let token = context.accessToken else { throw BusError(.unauthorized, "Please sign in.") }
        let checked = try await bus.call(
            CheckBearer(accessToken: token), CallOptions(timeout: context.remaining, trace: context.trace.child()))
        guard Actor(userID: checked.userID, sessionID: checked.sessionID, role: checked.role) == actor else {
            throw BusError(.unauthorized, "Please sign in.")
        }
        return checked
    }
}
