import Database
import EventLoop

/// Opens a service's tables for a command of an operator. No replica needs to run.
@Loop enum OperatorTables {
    /// Runs a body on the tables.
    ///
    /// - Throws: ``ConfigurationError`` if the database cannot be reached, or if the tables are missing or too old.
    static func with<Value>(
        _ definition: ServiceDefinition, _ configuration: Configuration, _ body: @Loop (Database) async throws -> Value
    ) async throws -> Value {
        let database = Database(
            DatabaseConfiguration(
                connectionString: try configuration.text("\(definition.prefix)DATABASE_URL"),
                schema: definition.name.identifier, poolSize: 2,
                applicationName: "vestibule-\(definition.name)-operator")
        )
        database.start()
        defer { database.close() }
        try await wait(for: database, of: definition)
        do {
            return try await body(database)
        } catch DatabaseError.statement(let sqlState, _, _) where missing.contains(sqlState) {
            throw ConfigurationError(
                "its tables are missing or older than this program: see vestibule migrate")
        }
    }

    /// The SQLSTATEs for a missing schema, table, column and function.
    private nonisolated static let missing = ["3F000", "42P01", "42703", "42883"]

    /// Waits at most one second, so that an operator soon learns that the database cannot be reached.
    private static func wait(for database: Database, of definition: ServiceDefinition) async throws {
        let end = MonotonicClock.now() + Duration.seconds(1).nanoseconds
        while !database.isAvailable {
            guard MonotonicClock.now() < end else {
                throw ConfigurationError("\(definition.prefix)DATABASE_URL: that database cannot be reached")
            }
            try await Loop.sleep(for: .milliseconds(10))
        }
    }
}
