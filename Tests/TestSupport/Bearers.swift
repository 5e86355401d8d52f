import BusProtocol
import BusRuntime
import EventLoop

/// Stands in for auth when a service checks an access token. Each token contains the name of its bearer.
@Loop package final class Bearers: RequestHandler {
    /// Whether the bearers' sessions are alive.
    package var isActive = true
    /// Whether a code opened the sessions within the last five minutes.
    package var isFresh = true

    package init() {}

    package nonisolated static func token(of actor: Actor) -> String {
        "\(actor.userID)/\(actor.sessionID)/\(actor.role)"
    }

    package func handle(_ request: CheckBearer, context: RequestContext) async throws -> BearerChecked {
        let parts = request.accessToken.split(separator: "/").map(String.init)
        guard isActive, parts.count == 3, let user = Identifier(parts[0]), let session = Identifier(parts[1]) else {
            throw BusError(.unauthorized, "Please sign in.")
        }
        return BearerChecked(userID: user, sessionID: session, role: Role(rawValue: parts[2]), isFresh: isFresh)
    }
}
