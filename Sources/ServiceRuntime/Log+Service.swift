import BusRuntime
import Database
import EventLoop
import JSONText

/// Log lines about the database and about answered requests.
extension Log {
    /// - Parameter use: what the database is for; `nil` for the service's own.
    func record(_ change: Database.Change, of use: String? = nil) {
        let fields = use.map { ["of": JSONValue.string($0)] } ?? [:]
        switch change {
        case .lost(let reason): warning("database_lost", fields.merging(["reason": .string(reason)]) { $1 })
        case .refused(let reason): warning("database_refuses", fields.merging(["reason": .string(reason)]) { $1 })
        case .back: info("database_back", fields)
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
