import EventLoop
import TestSupport
import Testing

@testable import Database

@Suite("tables of the services") struct ServiceTablesTests {
    /// Compares the tables in a migrated schema with those that a running service looks for.
    @Test(arguments: TestSystem.definitions.indices)
    func theTablesAreThoseOfTheMigrations(index: Int) async throws {
        let definition = TestSystem.definitions[index]
        let scratch = try await ScratchDatabase.make(
            schema: definition.name.identifier, migrations: definition.migrations)
        let rows = try await scratch.query(
            "SELECT tablename FROM pg_tables WHERE schemaname = '\(definition.name.identifier)' AND tablename <> 'schema_migrations'"
        )
        let tables = SchemaTables.made(by: RuntimeMigrations.all + definition.migrations)
        #expect(difference(between: rows.split(separator: "\n").map(String.init), and: tables) == [])
    }
}
