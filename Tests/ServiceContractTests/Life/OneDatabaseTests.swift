import EventLoop
import TestSupport
import Testing

@testable import Database

@Suite("tables of the services") struct ServiceTablesTests {
    /// What a look at a running service's schema takes for its tables.
    @Test(arguments: TestSystem.definitions.indices)
    func areThoseThatItsMigrationsSay(index: Int) async throws {
        let definition = TestSystem.definitions[index]
        let scratch = try await ScratchDatabase.make(
            schema: definition.name.rawValue, migrations: definition.migrations)
        let rows = try await scratch.query(
            "SELECT tablename FROM pg_tables WHERE schemaname = '\(definition.name)' AND tablename <> 'schema_migrations'"
        )
        let tables = SchemaTables.made(by: RuntimeMigrations.all + definition.migrations)
        #expect(difference(between: rows.split(separator: "\n").map(String.init), and: tables) == [])
    }
}
