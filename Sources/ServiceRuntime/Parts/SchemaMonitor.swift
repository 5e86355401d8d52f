import Database
import EventLoop
import JSONText

/// Watches whether the database has the tables of this build. Tables may go while the service runs, and it must not say that it
/// is ready without them.
@Loop final class SchemaMonitor {
    private let database: Database
    private let inspector: SchemaInspector
    private let log: Log
    /// As it was last seen; `nil` until the database that is connected now was looked at.
    private var state: SchemaState?

    init(_ database: Database, migrations: [Migration], log: Log) {
        (self.database, self.log) = (database, log)
        inspector = SchemaInspector(database, migrations: migrations)
    }

    var isUsable: Bool { state?.isUsable == true }
    /// Migrations and tables that are missing.
    var missing: Int { (state?.missing.count ?? 0) + (state?.lost.count ?? 0) }

    /// What is found behind the next connection may be another database.
    func forget() { state = nil }

    /// - Throws: `CancellationError`.
    func waitUntilUsable() async throws {
        while !isUsable { try await Loop.sleep(for: .milliseconds(10)) }
    }

    /// Looks once, and logs what changed.
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
        // On the way back from a release, or started once more while its replicas take this one's place.
        if !seen.newer.isEmpty { log.warning("schema_is_newer", ["unknown": names(seen.newer)]) }
    }
}
