import BusRuntime
import Database
import EventLoop

/// Log lines about the database and about answered requests.
extension Log {
    func record(_ change: Database.Change) {
        switch change {
        case .lost(let reason): warning("database_lost", ["reason": .string(reason)])
        case .refused(let reason): warning("database_refuses", ["reason": .string(reason)])
        case .back: info("database_back")
        }
    }

    @Loop func record(_ context: RequestContext, _ code: String, _ elapsed: Duration) {
        debug(
            "answered",
            [
                "type": .string(context.type.rawValue), "caller": .string(context.caller.rawValue),
                "code": .string(code), "microseconds": .integer(Int64(elapsed.nanoseconds / 1000)),
            ], trace: context.trace)
    }
}
