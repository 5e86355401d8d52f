import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Long poll of the revocation log. It reads the log every 200 ms and replies as soon as there is a new entry.
struct FollowRevocationsHandler: RequestHandler {
    let database: Database

    func handle(_ request: FollowRevocations, context: RequestContext) async throws -> RevocationsFollowed {
        let wait = min(Duration.milliseconds(request.waitMs), context.remaining - .milliseconds(200))
        let end = MonotonicClock.now() + wait.nanoseconds
        let known = request.after ?? 0
        while true {
            // The gateway counts an answer without news as read at the end of its wait or later.
            let isLast = MonotonicClock.now() >= end
            let (newest, entries) = try await SessionStore.revocations(after: known, in: database)
            // The overlap returns known entries again. Only a new entry ends the wait.
            if request.after == nil || newest > known || isLast {
                return RevocationsFollowed(cursor: newest, revocations: entries)
            }
            // A sleep may end 100 ms after `end`, and the deadline of the caller comes 200 ms after it.
            let left = Duration.nanoseconds(Int64(clamping: end - min(end, MonotonicClock.now())))
            try await Loop.sleep(about: min(left, .milliseconds(200)))
        }
    }
}
