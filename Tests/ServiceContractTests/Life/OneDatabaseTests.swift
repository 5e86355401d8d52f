import EventLoop
import TestSupport
import Testing

@testable import Database

@Suite("tables of the services") struct ServiceTablesTests {
    /// What a look at a running service's schema takes for its tables.
    @Test(arguments: Town.blueprints.indices)
    func areThoseThatItsMigrationsSay(index: Int) async throws {
        let blueprint = Town.blueprints[index]
        let scratch = try await ScratchDatabase.make(schema: blueprint.name.rawValue, migrations: blueprint.migrations)
        let rows = try await scratch.query(
            "SELECT tablename FROM pg_tables WHERE schemaname = '\(blueprint.name)' AND tablename <> 'schema_migrations'"
        )
        let tables = SchemaTables.made(by: RuntimeMigrations.all + blueprint.migrations)
        #expect(difference(between: rows.split(separator: "\n").map(String.init), and: tables) == [])
    }
}
