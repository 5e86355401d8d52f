import Database
import EventLoop

/// Keeps the last statistics of the outbox, as gauges.
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
