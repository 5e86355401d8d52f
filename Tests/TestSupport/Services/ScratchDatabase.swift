import Database
import EventLoop
import Foundation
import Synchronization

/// A database for one test with a service's schema, cloned from a migrated template.
package struct ScratchDatabase: Sendable {
    package let name: String
    package let schema: String
    private let folder: String

    private static let templates = Mutex<[String: String]>([:])
    private static let counter = Mutex(0)

    /// A schema and its service's migrations. The runtime's own migrations run first.
    package typealias Contents = (schema: String, migrations: [Migration])

    /// - Parameter migrations: the service's migrations. The runtime's own migrations run first.
    package static func make(schema: String, migrations: [Migration] = []) async throws -> ScratchDatabase {
        ScratchDatabase(schema: schema, beside: try await make([(schema, migrations)]))
    }

    /// Creates one database with several schemas.
    ///
    /// - Returns: the database with its first schema. ``init(schema:beside:)`` returns the others.
    package static func make(_ contents: [Contents]) async throws -> ScratchDatabase {
        let cluster = try await Loop.offload { try ScratchCluster.shared.get() }
        let template = try await template(contents, cluster: cluster)
        let name = newName("scratch")
        _ = try await Loop.offload {
            try cluster.query(
                "postgres", "CREATE DATABASE \(name) OWNER scratch_owner TEMPLATE \(template) STRATEGY file_copy")
        }
        return ScratchDatabase(name: name, schema: contents.first?.schema ?? "public", folder: cluster.folder)
    }

    /// Drops the database. Nothing may use it afterwards.
    package func drop() async throws {
        let name = name
        _ = try await Loop.offload {
            try ScratchCluster.shared.get().query("postgres", "DROP DATABASE \(name) WITH (FORCE)")
        }
    }

    private init(name: String, schema: String, folder: String) {
        (self.name, self.schema, self.folder) = (name, schema, folder)
    }

    /// Returns another schema of the same database.
    package init(schema: String, beside other: ScratchDatabase) {
        self.init(name: other.name, schema: schema, folder: other.folder)
    }

    /// Creates a database without a schema, for tests of the migrator.
    package static func empty(schema: String) async throws -> ScratchDatabase {
        let cluster = try await Loop.offload { try ScratchCluster.shared.get() }
        let name = newName("empty")
        try await Loop.offload { try create(name, in: cluster) }
        return ScratchDatabase(name: name, schema: schema, folder: cluster.folder)
    }

    private static func newName(_ kind: String) -> String {
        "\(kind)_\(counter.withLock { $0 += 1; return $0 })"
    }

    private static func create(_ name: String, in cluster: ScratchCluster) throws {
        try cluster.query("postgres", "CREATE DATABASE \(name) OWNER scratch_owner")
    }

    private static func template(_ contents: [Contents], cluster: ScratchCluster) async throws -> String {
        let key = contents.map { "\($0.schema) \($0.migrations.map(\.name)) \($0.migrations.map(\.sql.count))" }
            .joined()
        if let known = templates.withLock({ $0[key] }) { return known }
        let name = newName("template")
        try await Loop.offload { try create(name, in: cluster) }
        for (schema, migrations) in contents {
            let database = ScratchDatabase(name: name, schema: schema, folder: cluster.folder)
            _ = try await Migrator.run(
                owner: database.owner, schema: schema, runtimeRole: "scratch_runtime", migrations: migrations)
            // Tests read numbers of events more easily than times.
            _ = try await Loop.offload {
                try cluster.query(
                    name, "INSERT INTO \(schema).event_runs VALUES (\(schema).database_run(), 1)", isLast: true)
            }
        }
        templates.withLock { $0[key] = name }
        return name
    }

    /// The connection string of the role that owns the schema.
    package var owner: String { "host=\(folder) dbname=\(name) user=scratch_owner" }
    /// The connection string of the role that a service runs as.
    package var runtime: String { "host=\(folder) dbname=\(name) user=scratch_runtime" }

    package func configuration(poolSize: Int = 4) -> DatabaseConfiguration {
        DatabaseConfiguration(connectionString: runtime, schema: schema, poolSize: poolSize)
    }

    /// Acts as if the server were gone: refuses new connections, and returns when none is left.
    package func refuseConnections() async throws {
        let name = name
        try await Loop.offload {
            let cluster = try ScratchCluster.shared.get()
            try cluster.query("postgres", "ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
            // A session that got the signal may still answer, and the query does not see a connection on its way. So it
            // must find none ten times in a row.
            let left = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '\(name)'"
            let end = MonotonicClock.now() + Duration.seconds(30).nanoseconds
            var looks = 0
            while looks < 10 {
                looks = try cluster.query("postgres", left) == "0" ? looks + 1 : 0
                guard MonotonicClock.now() < end else {
                    throw ScratchCluster.Failure(description: "connections to \(name) do not end")
                }
                usleep(2_000)
            }
        }
    }

    /// Allows connections again after ``refuseConnections()``.
    package func takeConnections() async throws {
        let name = name
        _ = try await Loop.offload {
            try ScratchCluster.shared.get().query("postgres", "ALTER DATABASE \(name) ALLOW_CONNECTIONS true")
        }
    }

    /// Runs SQL as the superuser in the schema, and returns the rows as plain lines like `psql`.
    @discardableResult
    package func query(_ sql: String) async throws -> String {
        let (name, schema) = (name, schema)
        return try await Loop.offload {
            try ScratchCluster.shared.get().query(name, "SET search_path = \(schema); \(sql)")
        }
    }
}
