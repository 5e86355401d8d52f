import Database
import EventLoop
import JSONText

/// Checks whether the database has the tables of this build. Tables can disappear while the service runs, and a replica
/// without them must not be ready.
@Loop final class SchemaMonitor {
    private let database: Database
    private let inspector: SchemaInspector
    private let log: Log
    /// The state at the last check; `nil` until the current database was checked.
    private var state: SchemaState?

    init(_ database: Database, migrations: [Migration], log: Log) {
        (self.database, self.log) = (database, log)
        inspector = SchemaInspector(database, migrations: migrations)
    }

    var isUsable: Bool { state?.isUsable == true }
    /// The number of missing migrations and tables.
    var missing: Int { (state?.missing.count ?? 0) + (state?.lost.count ?? 0) }

    /// Forgets the state, because the next connection may lead to another database.
    func forget() { state = nil }

    /// - Throws: `CancellationError`.
    func waitUntilUsable() async throws {
        while !isUsable { try await Loop.sleep(for: .milliseconds(10)) }
    }

    /// Checks once, and logs the changes.
    func look() async throws {
        try await database.waitUntilAvailable()
        let seen = try await inspector.look()
        guard seen != state else { return }
        let wasUsable = state?.isUsable
        state = seen
        func names(_ list: [String]) -> JSONValue { .array(list.map { .string($0) }) }
        if !seen.missing.isEmpty {
            log.error("schema_too_old", ["missing": names(seen.missing), "remedy": "vestibule migrate"])
        } else if !seen.lost.isEmpty {
            log.error("tables_missing", ["missing": names(seen.lost), "remedy": "restore a backup"])
        } else if wasUsable == false {
            log.info("schema_complete")
        }
        // This happens after a downgrade, or while replicas of a newer release replace this one.
        if !seen.newer.isEmpty { log.warning("schema_is_newer", ["unknown": names(seen.newer)]) }
    }
}
