import BusProtocol
import Database
import EventLoop
import TestSupport
import Testing

@Suite("Write group") @Loop struct BatchWriterTests {
    private static let notes = Migration(
        name: "m0001_notes",
        sql: """
            CREATE TABLE {{schema}}.notes (
                id bigint PRIMARY KEY, label text, version bigint NOT NULL CHECK (version > 0)
            )
            """)
    /// Writes what is new, and nothing where there is one of that id.
    private static let add: Statement = """
        WITH added AS (
            INSERT INTO notes AS n (id, label, version)
            SELECT id, label, version FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS g (id, label, version)
            ON CONFLICT DO NOTHING RETURNING n.id, n.version
        )
        SELECT g.place, added.version FROM added
            JOIN unnest($1::bigint[]) WITH ORDINALITY AS g (id, place) USING (id)
        """

    private func withNotes(_ body: @Loop (Database, BatchWriter) async throws -> Void) async throws {
        let scratch = try await ScratchDatabase.make(schema: "shop", migrations: [Self.notes])
        let database = Database(scratch.configuration(poolSize: 4))
        database.start()
        defer { database.close() }
        try await database.waitUntilAvailable()
        try await body(database, BatchWriter(database, Self.add))
    }

    private func write(_ id: Int64, _ label: String? = "a", version: Int64 = 1, to group: BatchWriter) -> Task<
        Int64?, any Error
    > {
        Loop.spawn { try await Self.write([.integer(id), .text(label), .integer(version)], to: group) }
    }

    private static func write(_ row: [SQLValue], to group: BatchWriter) async throws -> Int64? {
        try await group.write(row)?.integer("version")
    }

    @Test func writesOfOneTurnAreOneTransaction() async throws {
        try await withNotes { database, group async throws in
            let writes = (1...64).map {
                write(Int64($0), $0 % 2 == 0 ? nil : "label \($0)", version: Int64($0), to: group)
            }
            for (index, write) in writes.enumerated() { #expect(try await write.value == Int64(index + 1)) }
            let rows = try await database.read(
                """
                SELECT count(*) AS notes, count(label) AS labels, count(DISTINCT xmin::text) AS transactions,
                    count(*) FILTER (WHERE label IS NULL OR label = 'label ' || id) AS right FROM notes
                """)
            let row = try #require(rows.first)
            #expect(try row.integer("notes") == 64 && row.integer("labels") == 32 && row.integer("right") == 64)
            // A turn may end between two of them.
            #expect(try row.integer("transactions") < 8)
        }
    }

    @Test func aWriteThatChangesNoRowReturnsNil() async throws {
        try await withNotes { _, group async throws in
            #expect(try await write(1, version: 5, to: group).value == 5)
            let writes = [write(1, version: 6, to: group), write(2, version: 7, to: group)]
            #expect(try await writes[0].value == nil)
            #expect(try await writes[1].value == 7)
        }
    }

    @Test func aRowThatPostgreSQLRefusesIsTheOnlyOneToFail() async throws {
        try await withNotes { _, group async throws in
            let writes = (1...9).map { write(Int64($0), version: $0 == 5 ? 0 : 1, to: group) }
            for (index, write) in writes.enumerated() {
                let result = await write.result
                if index == 4 {
                    #expect(throws: DatabaseError.statement(sqlState: "23514", constraint: "notes_version_check")) {
                        try result.get()
                    }
                } else {
                    #expect(try result.get() == 1)
                }
            }
        }
    }

    /// More than one statement may hold, and more while others are under way.
    @Test func eachRowOfAnOversizedBatchGetsItsOwnAnswer() async throws {
        try await withNotes { database, group async throws in
            let writes = (1...500).map { write(Int64($0), version: Int64($0), to: group) }
            for (index, write) in writes.enumerated() { #expect(try await write.value == Int64(index + 1)) }
            #expect(try await database.read("SELECT count(*) AS n FROM notes").first?.integer("n") == 500)
        }
    }

    /// While the table is locked, two statements wait for it. A write that waits behind them for too long is refused
    /// and never written.
    @Test func aWriteThatWaitsTooLongIsRefusedAndNotWritten() async throws {
        let scratch = try await ScratchDatabase.make(schema: "shop", migrations: [Self.notes])
        var configuration = scratch.configuration(poolSize: 4)
        configuration.leaseTimeout = .milliseconds(200)
        let database = Database(configuration)
        database.start()
        defer { database.close() }
        try await database.waitUntilAvailable()
        try await waitForLocks(onEachOf: 3, of: database)
        let group = BatchWriter(database, Self.add)
        var writes: [Task<Int64?, any Error>] = []
        try await database.transaction { transaction in
            _ = try await transaction.query("LOCK TABLE notes")
            // Each of the first two finds a statement free.
            for id in 1...2 {
                writes.append(write(Int64(id), to: group))
                #expect(try await eventually { try await blocked(in: database) == id })
            }
            writes.append(write(3, to: group))
            try await Loop.sleep(for: .milliseconds(300))
        }
        #expect(try await writes[0].value == 1)
        #expect(try await writes[1].value == 1)
        await #expect(throws: DatabaseError.busy) { try await writes[2].value }
        #expect(try await database.read("SELECT count(*) AS n FROM notes").first?.integer("n") == 2)
    }

    /// Removes the time limit for waits on locks, on a number of connections at once.
    @Loop private func waitForLocks(onEachOf count: Int, of database: Database) async throws {
        let (all, there) = (LoopPromise<Void>(), Counter())
        _ = try await atOnce(count) {
            try await patiently {
                try await database.transaction { transaction in
                    _ = try await transaction.query("SET lock_timeout = 0")
                    there.count += 1
                    if there.count == count { all.resolve(.success(())) }
                    try await all.get()
                }
            }
        }
    }

    @Loop private final class Counter { var count = 0 }

    private func blocked(in database: Database) async throws -> Int {
        let waiting: Statement = "SELECT count(*) AS n FROM pg_locks WHERE NOT granted AND relation = 'notes'::regclass"
        return Int(try await database.read(waiting).first?.integer("n") ?? 0)
    }
}
