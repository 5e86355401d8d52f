import BusProtocol
import BusRuntime
import EventLoop

/// Asks auth for the person of an access token and whether the session is alive. The gateway's word alone is not
/// enough.
package struct BearerReader: Sendable {
    private let bus: Bus

    /// Takes the bus over which it asks auth.
    package init(bus: Bus) { self.bus = bus }

    /// Auth's word on the person behind a request.
    ///
    /// - Throws: ``BusError`` `unauthorized`.
    @Loop package func bearer(of context: RequestContext) async throws(BusError) -> BearerChecked {
        let actor = try context.person()
        guard let token = context.accessToken else { throw BusError(.unauthorized, "Please sign in.") }
        let checked = try await bus.call(
            CheckBearer(accessToken: token), CallOptions(timeout: context.remaining, trace: context.trace.child()))
        // Auth's reply does not name the app. The app decides nothing here, so the gateway's word is enough for it.
        let known = Actor(userID: checked.userID, sessionID: checked.sessionID, role: checked.role, app: actor.app)
        guard known == actor else {
            throw BusError(.unauthorized, "Please sign in.")
        }
        return checked
    }
}

extension RequestContext {
    /// The signed-in member of staff. A wrong line in the gateway's route table must not show a case or a photo to anybody
    /// else.
    ///
    /// - Throws: ``BusError`` `unauthorized`.
    package func staff() throws(BusError) -> Actor {
        let actor = try person()
        guard actor.isStaff else { throw BusError(.unauthorized, "Please sign in.") }
        return actor
    }
}
