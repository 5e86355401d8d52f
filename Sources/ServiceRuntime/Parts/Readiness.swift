import BusRuntime
import Database
import EventLoop

/// Tells the bus whether this replica takes requests. It takes requests while the service is prepared and its tables
/// are usable.
@Loop final class Readiness: ServicePart {
    private let bus: Bus
    private let database: Database
    private let schema: SchemaMonitor
    private let log: Log
    private let isPrepared: @Loop () -> Bool
    /// Whether the replica has been ready at any time since it started.
    private(set) var wasReady = false

    init(
        of bus: Bus, _ database: Database, _ schema: SchemaMonitor, log: Log, isPrepared: @escaping @Loop () -> Bool
    ) {
        (self.bus, self.database, self.schema) = (bus, database, schema)
        (self.log, self.isPrepared) = (log, isPrepared)
    }

    func run() async {
        while !Task.isCancelled {
            if !database.isAvailable { schema.forget() }
            let isReady = database.isAvailable && schema.isUsable && isPrepared()
            if isReady != (bus.state == .ready), bus.state != .draining {
                bus.state = isReady ? .ready : .starting
                wasReady = wasReady || isReady
                log.info(isReady ? "ready" : "not_ready")
            }
            try? await Loop.sleep(about: .milliseconds(100))
        }
    }

    func stop() async {}
}
