import EventLoop

/// How a schema compares with the migrations of this build.
package struct SchemaState: Sendable, Equatable {
    /// Migrations of this build that were not applied, in order.
    package var missing: [String]
    /// Tables that the migrations created and that are missing, by name.
    package var lost: [String]
    /// Migrations that this build does not know, by name. They belong to a newer release, which keeps this one working.
    package var newer: [String]

    /// Whether a service can use the schema.
    package var isUsable: Bool { missing.isEmpty && lost.isEmpty }
}

/// Checks in one statement whether a schema exists and is not too old.
@Loop package struct SchemaInspector {
    private let database: Database
    private let names: [String]
    private let tables: [String]

    /// - Parameter migrations: the service's migrations. The inspector puts the runtime's own before them.
    package init(_ database: Database, migrations: [Migration]) {
        let all = RuntimeMigrations.all + migrations
        self.database = database
        (names, tables) = (all.map(\.name), SchemaTables.made(by: all).sorted())
    }

    /// - Throws: ``DatabaseError`` if the database does not answer, or refuses for another reason than a missing
    ///   schema.
    package func look() async throws(DatabaseError) -> SchemaState {
        let rows: [Row]
        do {
            rows = try await database.read(Self.statement, [.textArray(tables)])
        } catch .statement("42P01", _, _) {
            // Even the list of applied migrations is missing.
            return SchemaState(missing: names, lost: [], newer: [])
        }
        var (applied, lost) = (Set<String>(), [String]())
        for row in rows {
            let name = try row.text("name")
            if try row.bool("is_lost") { lost.append(name) } else { applied.insert(name) }
        }
        let newer = applied.subtracting(names).sorted()
        // A newer release may have dropped a table that this one does not need.
        return SchemaState(
            missing: names.filter { !applied.contains($0) }, lost: newer.isEmpty ? lost : [], newer: newer)
    }

    private static let statement: Statement = """
        SELECT name, false AS is_lost FROM schema_migrations
        UNION ALL SELECT name, true FROM unnest($1) AS t (name) WHERE to_regclass(name) IS NULL
        """
}

/// The tables that exist after the migrations, according to their text. Each statement that creates, renames or drops a
/// table must start a line.
enum SchemaTables {
    static func made(by migrations: [Migration]) -> Set<String> {
        var tables: Set<String> = []
        let lines = migrations.flatMap { $0.sql.utf8.split(separator: UInt8(ascii: "\n")) }.compactMap(Substring.init)
        for line in lines where ["CREATE", "DROP", "ALTER"].contains(where: { line.hasPrefix($0) }) {
            let words = line.replacing("{{schema}}.", with: "").split { " (;".contains($0) }.map(String.init)
            switch words.prefix(2) {
            case ["CREATE", "TABLE"] where words.count > 2: tables.insert(words[2])
            case ["DROP", "TABLE"] where words.count > 2: tables.remove(words[2])
            case ["ALTER", "TABLE"] where words.count == 6 && words[3...4] == ["RENAME", "TO"]:
                tables.remove(words[2])
                tables.insert(words[5])
            default: break
            }
        }
        return tables
    }
}
