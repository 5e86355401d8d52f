import CPostgres
import Cryptography
import EventLoop
import Values

/// One step of a schema: a file of SQL that is never edited after its release.
package struct Migration: Sendable, Equatable {
    /// The name: `m0001_accounts`. Migrations are applied in the order of the list.
    package let name: String
    /// The SQL, in which `{{schema}}` and `{{runtime}}` are replaced by the schema and the runtime role.
    package let sql: String

    /// Takes the name and the SQL.
    package init(name: String, sql: String) { (self.name, self.sql) = (name, sql) }

    var checksum: String { Hex.encode(SHA256.digest(Array(sql.utf8))) }
}

/// Why a schema could not be migrated.
package enum MigrationError: Error, Sendable, CustomStringConvertible {
    case cannotConnect(String)
    case edited(String)
    case missing(String)
    /// The schema has no tables, but it had some before.
    case vanished(String)
    case failed(migration: String, sqlState: String, message: String)

    package var description: String {
        switch self {
        case .cannotConnect(let message): "cannot connect to the database: \(message)"
        case .edited(let name): "the migration \(name) was edited after it was applied; write a new one instead"
        case .missing(let name):
            "the database has the migration \(name), which this build does not know, and not all of the build's own: "
                + "it is neither this release's nor a newer one's"
        case .vanished(let schema):
            "the tables of \(schema) are missing, and its file of audit anchors says that there were some: restore a backup "
                + "(docs/operations/restore.md), or give a new, empty system a new folder of anchors"
        case .failed(let migration, let sqlState, let message):
            "the migration \(migration) failed (\(sqlState)): \(message)"
        }
    }
}

/// Applies each migration once, even if several processes start at the same time.
package enum Migrator {
    /// Migrates a schema, the runtime's own tables first. It blocks, and runs off the loop by itself.
    ///
    /// - Parameters:
    ///   - owner: the connection string of the role that owns the schema.
    ///   - runtimeRole: the role that gets rights on the rows, but not on the tables themselves.
    ///   - mayBegin: false if a schema without tables means that they were lost.
    /// - Returns: the names of the migrations that were applied now, and the names that this build does not know. The
    ///   unknown ones belong to a newer release, which keeps this one working.
    /// - Throws: ``MigrationError``.
    package static func run(
        owner: String, schema: String, runtimeRole: String?, migrations: [Migration], mayBegin: Bool = true
    ) async throws -> (applied: [String], newer: [String]) {
        try await Loop.offload {
            try apply(
                RuntimeMigrations.all + migrations, owner: owner, schema: schema, runtimeRole: runtimeRole,
                mayBegin: mayBegin)
        }
    }

    private static func apply(
        _ migrations: [Migration], owner: String, schema: String, runtimeRole: String?, mayBegin: Bool
    ) throws -> (applied: [String], newer: [String]) {
        let address = DatabaseConfiguration.connect(owner, schema: schema, applicationName: "vestibule-migrate")
        let connection = MigrationConnection(OpaquePointer(bitPattern: address))
        try connection.check()
        let role = runtimeRole ?? "CURRENT_USER"
        // There is one lock per schema. A second process waits here for the first, without a limit.
        try connection.run("prepare", "SET lock_timeout = 0; SET statement_timeout = 0")
        try connection.run("prepare", "SELECT pg_advisory_lock(\(AdvisoryLock.migrations.key(in: "'\(schema)'")))")
        guard try mayBegin || connection.hasTables(in: schema) else { throw MigrationError.vanished(schema) }
        try connection.run(
            "prepare",
            """
            CREATE SCHEMA IF NOT EXISTS \(schema);
            GRANT USAGE ON SCHEMA \(schema) TO \(role);
            ALTER DEFAULT PRIVILEGES IN SCHEMA \(schema) GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO \(role);
            ALTER DEFAULT PRIVILEGES IN SCHEMA \(schema) GRANT USAGE ON SEQUENCES TO \(role);
            CREATE TABLE IF NOT EXISTS \(schema).schema_migrations (
                name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
            REVOKE INSERT, UPDATE, DELETE ON \(schema).schema_migrations FROM \(role)
            """)
        let applied = try connection.applied(in: schema)
        let newer = applied.keys.sorted().filter { name in !migrations.contains { $0.name == name } }
        if let name = newer.first, migrations.contains(where: { applied[$0.name] == nil }) {
            throw MigrationError.missing(name)
        }
        var done: [String] = []
        for migration in migrations {
            if let checksum = applied[migration.name] {
                guard checksum == migration.checksum else { throw MigrationError.edited(migration.name) }
                continue
            }
            let sql = migration.sql.replacing("{{schema}}", with: schema).replacing("{{runtime}}", with: role)
            try connection.run(
                migration.name,
                """
                BEGIN;
                \(sql)
                ;
                INSERT INTO \(schema).schema_migrations (name, checksum)
                    VALUES ('\(migration.name)', '\(migration.checksum)');
                COMMIT
                """)
            done.append(migration.name)
        }
        return (done, newer)
    }
}

/// A blocking connection for one run.
private final class MigrationConnection {
    private let raw: OpaquePointer?

    init(_ raw: OpaquePointer?) { self.raw = raw }
    deinit { PQfinish(raw) }

    private var message: String {
        String(cString: PQerrorMessage(raw)).split(separator: "\n").first.map(String.init) ?? "no reason given"
    }

    func check() throws(MigrationError) {
        guard PQstatus(raw) == CONNECTION_OK else {
            throw .cannotConnect(ConnectionFailure.reason(String(cString: PQerrorMessage(raw))))
        }
    }

    func run(_ migration: String, _ sql: String) throws(MigrationError) {
        let result = QueryResult(owning: PQexec(raw, sql))
        guard let failure = result.failure else { return }
        let sqlState = if case .statement(let state, _, _) = failure { state } else { "" }
        throw .failed(migration: migration, sqlState: sqlState, message: message)
    }

    func hasTables(in schema: String) throws(MigrationError) -> Bool {
        try rows("SELECT 1, 1 WHERE to_regclass('\(schema).schema_migrations') IS NOT NULL").isEmpty == false
    }

    /// The checksum by name.
    func applied(in schema: String) throws(MigrationError) -> [String: String] {
        try rows("SELECT name, checksum FROM \(schema).schema_migrations")
    }

    private func rows(_ sql: String) throws(MigrationError) -> [String: String] {
        let raw = PQexec(raw, sql)
        defer { PQclear(raw) }
        guard PQresultStatus(raw) == PGRES_TUPLES_OK else {
            throw .failed(migration: "prepare", sqlState: "", message: message)
        }
        var found: [String: String] = [:]
        for row in 0..<PQntuples(raw) {
            found[String(cString: PQgetvalue(raw, row, 0))] = String(cString: PQgetvalue(raw, row, 1))
        }
        return found
    }
}
