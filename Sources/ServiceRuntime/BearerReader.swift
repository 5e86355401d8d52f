import BusProtocol
import BusRuntime
import EventLoop

/// Asks auth for the person of an access token and whether the session is alive. The gateway's word alone is not
/// enough.
public struct BearerReader: Sendable {
    private let bus: Bus

    /// Takes the bus on which auth is asked.
    public init(bus: Bus) { self.bus = bus }

    /// Auth's word on the person behind a request.
    ///
    /// - Throws: ``BusError`` `unauthorized`.
    @Loop public func bearer(of context: RequestContext) async throws(BusError) -> BearerChecked {
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
