import Database

/// The rules for a table about a person that no `ExportSection` describes. The runtime exports and erases such a table
/// by itself.
package enum PersonTableRules {
    /// - Parameter described: the columns that the service's export sections describe, such as `cases.account_id`.
    /// - Returns: a sentence for each violation.
    package static func problems(in database: ScratchDatabase, described: [String]) async throws -> [String] {
        let sections = described.map { String($0.prefix { $0 != "." }) }
        func list(_ names: [String]) -> String { "'{\(names.joined(separator: ","))}'::text[]" }
        let found = try await database.query(
            """
            WITH tables AS (
                SELECT oid, relname AS name FROM pg_class WHERE relnamespace = current_schema()::text::regnamespace
                    AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> ALL (\(list(Erasure.tables)))
            ), held AS (
                SELECT t.oid, name, attnum AS person, atttypid AS type FROM tables t JOIN pg_attribute ON attrelid = t.oid
                WHERE attname = 'person_id' AND name <> ALL (\(list(sections)))
            ), described AS (SELECT oid FROM tables WHERE name = ANY (\(list(sections))))
            SELECT name || '.person_id is no uuid' FROM held WHERE type <> 'uuid'::regtype
            UNION ALL SELECT name || '.' || attname || ' has bytes, which are never exported by themselves: '
                || 'describe ' || name || ' by an ExportSection'
                FROM held JOIN pg_attribute a ON attrelid = held.oid WHERE atttypid IN ('bytea'::regtype, 'bytea[]'::regtype)
            UNION ALL SELECT name || ': the service''s role may not read and delete its rows' FROM held
                WHERE NOT has_table_privilege('scratch_runtime', oid, 'SELECT')
                    OR NOT has_table_privilege('scratch_runtime', oid, 'DELETE')
            UNION ALL SELECT name || ' has no primary key, by which an export goes from page to page'
                FROM held WHERE NOT EXISTS (SELECT FROM pg_index WHERE indrelid = held.oid AND indisprimary)
            UNION ALL SELECT name || ' has no index that begins with person_id' FROM held WHERE NOT EXISTS (
                SELECT FROM pg_index WHERE indrelid = held.oid AND indkey[0] = person AND indpred IS NULL)
            UNION ALL SELECT f.relname || ' refers to ' || t.relname || ' without ON DELETE CASCADE'
                FROM pg_constraint JOIN pg_class f ON f.oid = conrelid JOIN pg_class t ON t.oid = confrelid
                WHERE contype = 'f' AND confdeltype IN ('a', 'r') AND (confrelid IN (SELECT oid FROM held)
                    OR conrelid IN (SELECT oid FROM held) AND confrelid IN (SELECT oid FROM described))
            ORDER BY 1
            """)
        return found.split(separator: "\n").map(String.init)
    }
}
