import Database
import EventLoop

/// Looks at intervals how much waits in the outbox.
@Loop final class OutboxMonitor {
    private let database: Database
    private var statistics = OutboxStatistics()

    init(_ database: Database) { self.database = database }

    func look() async throws { statistics = try await OutboxStatistics.look(in: database) }

    var gauges: [String: Double] {
        [
            "outbox_due": Double(statistics.due), "outbox_oldest_seconds": statistics.oldestSeconds,
            "outbox_dead": Double(statistics.dead),
        ]
    }
}
