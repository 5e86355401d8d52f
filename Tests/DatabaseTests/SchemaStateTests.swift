import EventLoop
import TestSupport
import Testing

@testable import Database

@Suite("how a schema stands") @Loop struct SchemaStateTests {
    private nonisolated static let migrations = [
        Migration(
            name: "m0001_a",
            sql: """
                SET LOCAL search_path = {{schema}};
                CREATE TABLE a (id int);
                CREATE TABLE b (id int);
                CREATE TABLE {{schema}}.c(id int);
                """),
        Migration(name: "m0002_b", sql: "DROP TABLE {{schema}}.b;\nALTER TABLE {{schema}}.c RENAME TO d;"),
    ]

    @Test nonisolated func theTablesAreThoseThatTheMigrationsLeave() {
        #expect(SchemaTables.made(by: Self.migrations) == ["a", "d"])
    }

    @Test(
        "is seen",
        arguments: [
            ("SELECT 1", SchemaState(missing: [], lost: [], newer: [])),
            ("DROP TABLE d", SchemaState(missing: [], lost: ["d"], newer: [])),
            ("DROP TABLE outbox", SchemaState(missing: [], lost: ["outbox"], newer: [])),
            (
                "DELETE FROM schema_migrations WHERE name = 'm0002_b'",
                SchemaState(missing: ["m0002_b"], lost: [], newer: [])
            ),
            // A newer release may have put the table away.
            (
                "DROP TABLE d; INSERT INTO schema_migrations VALUES ('m0003_c', '')",
                SchemaState(missing: [], lost: [], newer: ["m0003_c"])
            ),
            (
                "DROP SCHEMA shop CASCADE",
                SchemaState(missing: (RuntimeMigrations.all + migrations).map(\.name), lost: [], newer: [])
            ),
        ])
    func looks(sql: String, expected: SchemaState) async throws {
        let scratch = try await ScratchDatabase.make(schema: "shop", migrations: Self.migrations)
        let database = Database(scratch.configuration())
        database.start()
        defer { database.close() }
        try await database.waitUntilAvailable()
        try await scratch.query(sql)
        let seen = try await SchemaInspector(database, migrations: Self.migrations).look()
        #expect(seen == expected)
        #expect(seen.isUsable == (expected.missing + expected.lost).isEmpty)
    }
}
