import BusProtocol
import Database
import EventLoop
import TestSupport
import Testing

@Suite("batch of reads") @Loop struct BatchReaderTests {
    private static let notes = Migration(
        name: "m0001_notes", sql: "CREATE TABLE {{schema}}.notes (id uuid PRIMARY KEY, label text NOT NULL)")

    /// With notes whose labels are their numbers from 0.
    private func withNotes(
        _ count: Int, _ body: @Loop (Database, BatchReader, [Identifier]) async throws -> Void
    ) async throws {
        let scratch = try await ScratchDatabase.make(schema: "shop", migrations: [Self.notes])
        let database = Database(scratch.configuration(poolSize: 2))
        database.start()
        defer { database.close() }
        try await database.waitUntilAvailable()
        let ids = (0..<count).map { _ in Identifier.random() }
        _ = try await database.write(
            "INSERT INTO notes SELECT id, n - 1 FROM unnest($1) WITH ORDINALITY AS g (id, n)", [.uuidArray(ids)])
        try await body(database, BatchReader(database, "SELECT id, label FROM notes", by: "id"), ids)
    }

    private func labels(of ids: [Identifier], by reader: BatchReader) async throws -> [String?] {
        let reads = ids.map { id in Loop.spawn { try await reader.row(of: id)?.text("label") } }
        var labels: [String?] = []
        for read in reads { labels.append(try await read.value) }
        return labels
    }

    /// How often the connection for reads executed the statements of the reader.
    private func executions(in database: Database) async throws -> (all: Int64, planned: Int64) {
        let row = try await database.read(
            """
            SELECT coalesce(sum(generic_plans + custom_plans), 0)::bigint AS executions,
                coalesce(sum(custom_plans), 0)::bigint AS planned
            FROM pg_prepared_statements WHERE statement LIKE 'SELECT id, label FROM notes%'
            """
        ).first
        return (try row?.integer("executions") ?? 0, try row?.integer("planned") ?? 0)
    }

    @Test func eachGetsTheRowOfItsKey() async throws {
        try await withNotes(20) { database, reader, ids async throws in
            let nobody = Identifier.random()
            let sought = [ids[3], nobody, ids[3]] + ids + [nobody]
            let expected: [String?] = ["3", nil, "3"] + (0..<20).map(String.init) + [nil]
            #expect(try await labels(of: sought, by: reader) == expected)
            // They fit one statement. A turn may end between two of them.
            #expect(try await executions(in: database).all < 8)
            #expect(try await labels(of: [ids[7]], by: reader) == ["7"])
            #expect(try await labels(of: [nobody], by: reader) == [nil])
        }
    }

    @Test func statementsArePlannedForAllKeysAtOnce() async throws {
        try await withNotes(8) { database, reader, ids async throws in
            _ = try await database.read("ANALYZE notes")
            for count in [8, 7, 6, 5, 4, 3, 2, 1] + Array(repeating: 2, count: 20) + Array(repeating: 1, count: 20) {
                #expect(try await labels(of: Array(ids.prefix(count)), by: reader).count == count)
            }
            let executions = try await executions(in: database)
            #expect(executions.all > 40 && executions.planned == 0)
        }
    }

    @Test func aReadThatPostgreSQLRefusesFailsNoOther() async throws {
        try await withNotes(3) { database, reader, ids async throws in
            // The reader sends at the end of the turn, behind the statement that is refused.
            let first = Loop.spawn { try await reader.row(of: ids[0])?.text("label") }
            let broken = Loop.spawn { try await database.read("SELECT 1 / (SELECT 0 FROM notes LIMIT 1) AS n") }
            let second = Loop.spawn { try await reader.row(of: ids[1])?.text("label") }
            await #expect(throws: DatabaseError.statement(sqlState: "22012", constraint: nil)) {
                try await broken.value
            }
            #expect(try await first.value == "0")
            #expect(try await second.value == "1")
        }
    }

    @Test func aRowThatPostgreSQLCannotReadFailsNoOther() async throws {
        try await withNotes(3) { database, _, ids async throws in
            let reader = BatchReader(database, "SELECT id, (6 / label::int)::text AS label FROM notes", by: "id")
            let reads = ids.map { id in Loop.spawn { try await reader.row(of: id)?.text("label") } }
            await #expect(throws: DatabaseError.statement(sqlState: "22012", constraint: nil)) {
                try await reads[0].value
            }
            #expect(try await reads[1].value == "6")
            #expect(try await reads[2].value == "3")
        }
    }

    @Test func aLostConnectionFailsTheReadsUnderWay() async throws {
        try await withNotes(2) { database, reader, ids async throws in
            let ended = Loop.spawn { try await database.read("SELECT pg_terminate_backend(pg_backend_pid())") }
            await #expect(throws: DatabaseError.unavailable) { try await labels(of: ids, by: reader) }
            _ = await ended.result
            #expect(try await eventually { (try? await labels(of: ids, by: reader)) == ["0", "1"] })
        }
    }

    @Test func withoutAConnectionItIsUnavailable() async throws {
        try await withNotes(1) { database, reader, ids async throws in
            database.close()
            await #expect(throws: DatabaseError.unavailable) { try await reader.row(of: ids[0]) }
        }
    }
}
