import BusRuntime
import Database
import EventLoop
import JSONText

/// Log lines about the database and about answered requests.
extension Log {
    /// Logs the events of a database's connections from now on.
    ///
    /// - Parameter use: the purpose of the database; `nil` for the service's own.
    @Loop func record(of database: Database, for use: String? = nil) {
        let fields = use.map { ["of": JSONValue.string($0)] } ?? [:]
        func with(_ name: String, _ text: String) -> [String: JSONValue] {
            fields.merging([name: .string(text)]) { $1 }
        }
        database.onTimeout = { [self] in warning("database_timeout", with("error", Self.name(of: $0))) }
        database.onChange = { [self] change in
            switch change {
            case .lost(let reason): warning("database_lost", with("reason", reason))
            case .refused(let reason): warning("database_refuses", with("reason", reason))
            case .back: info("database_back", fields)
            }
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
