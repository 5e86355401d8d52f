import BusProtocol
import Database
import EventLoop

/// A table about people that no ``ExportSection`` describes. The runtime exports and erases it by its schema alone.
///
/// It has a column `person_id` of type `uuid`. The runtime reads the schema each time, because exports and deletions
/// are rare. So a replica of the previous release does not miss a table that a migration has just created.
package struct PersonTable {
    private struct Column {
        let name: String
        let type: String
        let isKey: Bool

        /// The column's name in camel case, for the record.
        var member: String {
            let words = name.split(separator: "_")
            return words.prefix(1).joined()
                + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        }
        /// SQL for the column's value in a record.
        var value: String {
            type == "timestamp with time zone" ? ExportSection.time(quoted(name)) : quoted(name)
        }
        /// SQL for the column's value as text that sorts like the value, if the value is not negative.
        var key: String {
            switch type {
            case "smallint", "integer", "bigint": "lpad(\(quoted(name))::text, 19, '0')"
            default: "\(value)::text"
            }
        }
    }

    private let name: String
    private var columns: [Column] = []

    /// The tables that the sections do not describe, in the order of their creation. So a new table does not change the
    /// place that a cursor points to.
    @Loop static func all(besides sections: [ExportSection], in transaction: Transaction) async throws -> [PersonTable]
    {
        let described = Erasure.tables + sections.flatMap(\.tables)
        var tables: [PersonTable] = []
        for row in try await transaction.query(columns, [.textArray(described)]) {
            let name = try row.text("table")
            if tables.last?.name != name { tables.append(PersonTable(name: name)) }
            let column = Column(
                name: try row.text("column"), type: try row.text("type"), isKey: try row.bool("is_key"))
            tables[tables.count - 1].columns.append(column)
        }
        return tables
    }

    /// Removes a person's rows. Rows that a foreign key deletes may be gone before their own table's turn.
    @Loop package static func erase(
        _ person: Identifier, besides sections: [ExportSection], in transaction: Transaction
    ) async throws {
        for table in try await all(besides: sections, in: transaction) {
            transaction.send(Statement("DELETE FROM \(quoted(table.name)) WHERE person_id = $1"), [.uuid(person)])
        }
    }

    /// A record has every column except the person's ID and columns of bytes, which are secret or sealed. The key is
    /// cut, because a cursor has at most 300 characters.
    var section: ExportSection {
        let members = columns.filter { $0.name != "person_id" && !$0.type.hasPrefix("bytea") }
            .map { "\($0.value) AS \(quoted($0.member))" }
        let key = columns.filter { $0.isKey && $0.name != "person_id" }.map(\.key)
        return ExportSection(
            name, of: [name],
            """
            SELECT left(whole, 250) || md5(whole) AS key, record FROM (
                SELECT ARRAY[\(key.joined(separator: ", "))]::text[]::text AS whole,
                    (SELECT to_jsonb(r) FROM (SELECT \(members.joined(separator: ", "))) AS r) AS record
                FROM \(quoted(name)) WHERE person_id = $1) AS held
            """)
    }

    private static let columns: Statement = """
        SELECT c.relname::text AS "table", a.attname::text AS "column", format_type(a.atttypid, NULL) AS type,
            coalesce(a.attnum = ANY (k.conkey), false) AS is_key
        FROM pg_class c
            JOIN pg_attribute p ON p.attrelid = c.oid AND p.attname = 'person_id' AND p.atttypid = 'uuid'::regtype
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'
        WHERE c.relnamespace = current_schema()::text::regnamespace AND c.relkind IN ('r', 'p')
            AND NOT c.relispartition AND c.relname <> ALL ($1::text[])
        ORDER BY c.oid, a.attnum
        """
}

/// Quotes a name for SQL.
private func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }
