import EventLoop
import TestSupport
import Testing

/// Tables that an operator splits into partitions.
@Suite("split tables") struct SplitTableTests {
    /// SQL for the shape of a table, without its partitions.
    private static func shape(of table: String) -> String {
        """
        SELECT string_agg(line, E'\\n' ORDER BY line COLLATE "C") FROM (
            SELECT concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull, attstorage, collname,
                pg_get_expr(adbin, adrelid), col_description(attrelid, attnum))
            FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum LEFT JOIN pg_collation c ON c.oid = attcollation
            WHERE attrelid = '\(table)'::regclass AND attnum > 0 AND NOT attisdropped
            UNION ALL SELECT conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = '\(table)'::regclass
            UNION ALL SELECT replace(indexdef, ' ON ONLY ', ' ON ') FROM pg_indexes WHERE tablename = '\(table)'
            UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = '\(table)'::regclass AND NOT tgisinternal
            UNION ALL SELECT concat_ws(' ', grantee::regrole, privilege_type) FROM pg_class, aclexplode(relacl) WHERE oid = '\(table)'::regclass
            UNION ALL SELECT concat_ws(' ', relowner::regrole, obj_description(oid, 'pg_class')) FROM pg_class WHERE oid = '\(table)'::regclass
        ) AS shape (line)
        """
    }

    @Loop private static func migrated(_ service: String) async throws -> ScratchDatabase {
        let definition = try #require(TestSystem.definitions.first { $0.name.identifier == service })
        return try await ScratchDatabase.make(schema: service, migrations: definition.migrations)
    }

    @Test(arguments: [
        ("questionnaire", "answers"), ("questionnaire", "answer_history"), ("questionnaire", "mutations"),
        ("questionnaire", "snapshots"), ("visual_preference", "presentations"), ("auth", "refresh_tokens"),
        ("auth", "audit"),
    ])
    @Loop func aSplitKeepsTheShapeOfTheTable(service: String, table: String) async throws {
        let scratch = try await Self.migrated(service)
        let before = try await scratch.query(Self.shape(of: table))
        try await scratch.split(table, into: 3)
        #expect(try await scratch.query(Self.shape(of: table)) == before)
        #expect(try await scratch.query("SELECT count(*) FROM pg_partition_tree('\(table)') WHERE isleaf") == "3")
        let left = """
            SELECT (SELECT count(*) FROM pg_namespace WHERE nspname LIKE '%\\_split'),
                (SELECT count(*) FROM pg_class WHERE relispartition AND relkind = 'r'
                    AND (has_table_privilege('scratch_runtime', oid, 'SELECT, INSERT, UPDATE, DELETE') OR relnamespace <> '\(service)'::regnamespace))
            """
        #expect(try await scratch.query(left) == "0|0", "a schema is left, or a service reaches a partition by itself")
        try await scratch.drop()
    }

    /// - Parameter reason: the reason that psql prints before it copies any row.
    @Test(arguments: [
        ("questionnaire", "sessions", "a foreign key of another table refers to it"),
        ("questionnaire", "outbox", "unique constraint on partitioned table must include all partitioning columns"),
        ("auth", "revocations", "a sequence numbers its rows"), ("recovery", "cases", "refers to it"),
        ("profile", "onboarding_events", "partitioned table must include all partitioning columns"),
        ("profile", "profile_field_history", "a sequence numbers its rows"),
    ])
    @Loop func aSplitThatCannotSucceedIsRefused(service: String, table: String, reason: String) async throws {
        let scratch = try await Self.migrated(service)
        let error = await #expect(throws: ScratchCluster.Failure.self) { try await scratch.split(table, into: 3) }
        #expect(try #require(error).description.contains(reason))
        #expect(try await scratch.query("SELECT count(*) FROM pg_namespace WHERE nspname LIKE '%\\_split'") == "0")
        try await scratch.drop()
    }
}
