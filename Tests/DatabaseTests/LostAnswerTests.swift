import BusProtocol
import Database
import EventLoop
import TestSupport
import Testing

/// The server executed the statement, but the connection broke before the reply.
@Suite("a lost answer") @Loop struct LostAnswerTests {
    private static let table = Migration(
        name: "m0001_writes", sql: "CREATE TABLE {{schema}}.writes (id bigint PRIMARY KEY)")
    private static let insert: Statement = "INSERT INTO writes (id) VALUES ($1)"

    /// Runs a body on a database whose next answer is lost, after a first use that left the statement prepared.
    private func losing(_ body: (Database, LossyLink) async throws -> Void) async throws -> String {
        let scratch = try await ScratchDatabase.make(schema: "shop", migrations: [Self.table])
        let link = try LossyLink(to: try ScratchCluster.shared.get().folder)
        defer { link.close() }
        let database = Database(
            DatabaseConfiguration(
                connectionString: "host=\(link.folder) dbname=\(scratch.name) user=scratch_runtime", schema: "shop",
                poolSize: 2))
        database.start()
        defer { database.close() }
        try await database.waitUntilAvailable()
        _ = try await database.write(Self.insert, [.integer(0)])
        try await body(database, link)
        // It comes back by itself.
        while (try? await database.write(Self.insert, [.integer(9)])) == nil {}
        return try await scratch.query("SELECT string_agg(id::text, ' ' ORDER BY id) FROM writes")
    }

    @Test func leavesAWriteUnknown() async throws {
        let rows = try await losing { database, link in
            link.loseNextAnswer()
            let error = await #expect(throws: DatabaseError.self) {
                try await database.write(Self.insert, [.integer(1)])
            }
            #expect(error == .commitUnknown && error?.busError.executed == .unknown)
        }
        #expect(rows == "0 1 9")
    }

    @Test func leavesATransactionUnknown() async throws {
        let rows = try await losing { database, link in
            let error = await #expect(throws: DatabaseError.self) {
                try await database.transaction { transaction in
                    link.loseNextAnswer()
                    transaction.send(Self.insert, [.integer(1)])
                }
            }
            #expect(error == .commitUnknown)
        }
        #expect(rows == "0 1 9")
    }

    @Test func leavesATransactionUnknownThatEndedWithTheStatement() async throws {
        let rows = try await losing { database, link in
            let error = await #expect(throws: DatabaseError.self) {
                try await database.transaction { transaction in
                    _ = try await transaction.query("SELECT 1")
                    link.loseNextAnswer()
                    _ = try await transaction.queryLast(Self.insert, [.integer(1)])
                }
            }
            #expect(error == .commitUnknown && error?.busError.executed == .unknown)
        }
        #expect(rows == "0 1 9")
    }

    @Test func beforeTheCommitMeansNotExecuted() async throws {
        let rows = try await losing { database, link in
            let error = await #expect(throws: DatabaseError.self) {
                try await database.transaction { transaction in
                    link.loseNextAnswer()
                    _ = try await transaction.query(Self.insert, [.integer(1)])
                }
            }
            #expect(error == .unavailable && error?.busError.executed == .no)
        }
        #expect(rows == "0 9")
    }

    @Test func aLostAnswerFailsARead() async throws {
        _ = try await losing { database, link in
            link.loseNextAnswer()
            let error = await #expect(throws: DatabaseError.self) { try await database.read("SELECT id FROM writes") }
            #expect(error == .unavailable)
        }
    }
}
