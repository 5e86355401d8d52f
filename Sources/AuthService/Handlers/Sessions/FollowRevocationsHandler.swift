import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// The long poll of the log of revocations: looks each 200 ms, and answers as soon as there is something new.
struct FollowRevocationsHandler: RequestHandler {
    let database: Database

    func handle(_ request: FollowRevocations, context: RequestContext) async throws -> RevocationsFollowed {
        let wait = min(Duration.milliseconds(request.waitMs), context.remaining - .milliseconds(100))
        let end = MonotonicClock.now() + wait.nanoseconds
        let known = request.after ?? 0
        while true {
            let (newest, entries) = try await SessionStore.revocations(after: known, in: database)
            // The overlap brings known entries again; only a new one ends the wait.
            if request.after == nil || newest > known || MonotonicClock.now() >= end {
                return RevocationsFollowed(cursor: newest, revocations: entries)
            }
            // Not beyond the end: the caller's deadline is a tenth of a second behind it.
            let left = Duration.nanoseconds(Int64(clamping: end - min(end, MonotonicClock.now())))
            try await Loop.sleep(for: min(left, .milliseconds(200)))
        }
    }
}
