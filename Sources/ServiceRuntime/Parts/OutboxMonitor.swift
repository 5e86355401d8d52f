import Database
import EventLoop

/// Looks at intervals how much waits in the outbox.
@Loop final class OutboxMonitor {
    private let database: Database
    private var sight = OutboxStatistics()

    init(_ database: Database) { self.database = database }

    func look() async throws { sight = try await OutboxStatistics.look(in: database) }

    var gauges: [String: Double] {
        [
            "outbox_due": Double(sight.due), "outbox_oldest_seconds": sight.oldestSeconds,
            "outbox_dead": Double(sight.dead),
        ]
    }
}
