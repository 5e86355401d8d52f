import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

struct LogoutHandler: RequestHandler {
    let house: ServiceHouse

    func handle(_ request: Logout, context: RequestContext) async throws -> NoContent {
        let actor = try context.person()
        return try await house.once(context) { transaction in
            AccountStore.revoke(session: actor.sessionID, in: transaction)
            return .reply(NoContent())
        }
    }
}

struct GetSigningKeysHandler: RequestHandler {
    let keys: SigningKeyStore
    func handle(_ request: GetSigningKeys, context: RequestContext) async throws -> SigningKeys { try keys.published }
}

struct CheckSessionHandler: RequestHandler {
    let house: ServiceHouse

    func handle(_ request: CheckSession, context: RequestContext) async throws -> SessionChecked {
        let rows = try await house.database.read(
            "SELECT id FROM sessions WHERE id = $1 AND revoked_at IS NULL", [.uuid(request.sessionID)])
        return SessionChecked(isActive: !rows.isEmpty)
    }
}

/// The long poll of the log of revocations: looks each 200 ms, and answers as soon as there is something new.
struct FollowRevocationsHandler: RequestHandler {
    let house: ServiceHouse

    func handle(_ request: FollowRevocations, context: RequestContext) async throws -> RevocationsFollowed {
        let wait = min(Duration.milliseconds(request.waitMs), context.remaining - .milliseconds(100))
        let end = MonotonicClock.now() + wait.nanoseconds
        while true {
            let rows = try await house.database.read(Self.select, [.integer(request.after ?? 0)])
            let entries = try rows.map {
                RevocationsFollowed.Revocation(
                    sessionID: try $0.uuid("session_id"), forgetAt: try $0.timestamp("forget_at"))
            }
            let newest = try rows.map { try $0.integer("id") }.max() ?? request.after ?? 0
            // The overlap brings known entries again; only a new one ends the wait.
            if request.after == nil || newest > (request.after ?? 0) || MonotonicClock.now() >= end {
                return RevocationsFollowed(cursor: max(newest, request.after ?? 0), revocations: entries)
            }
            // Not beyond the end: the caller's deadline is a tenth of a second behind it.
            let left = Duration.nanoseconds(Int64(clamping: end - min(end, MonotonicClock.now())))
            try await Loop.sleep(for: min(left, .milliseconds(200)))
        }
    }

    /// Ids commit out of order: whatever was written in the last five seconds is read again.
    private static let select: Statement = """
        SELECT id, session_id, forget_at FROM revocations
        WHERE forget_at > clock_timestamp() AND (id > $1 OR created_at > clock_timestamp() - interval '5 s')
        ORDER BY id LIMIT 10000
        """
}
