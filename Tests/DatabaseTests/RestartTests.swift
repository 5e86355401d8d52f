import BusProtocol
import Database
import EventLoop
import TestSupport
import Testing

@Suite("a restart of PostgreSQL") @Loop struct RestartTests {
    /// The outcome of one write, as its caller learnt it.
    private enum WriteOutcome { case done, notDone, unknown }

    /// Writers work while the server restarts again and again. A write that was reported as done is in the table, and
    /// one that was reported as not done is not. No writer waits for ever.
    @Test("every write is reported as done, not done or unknown", arguments: ["fast", "immediate"])
    func writes(mode: String) async throws {
        let cluster = try await Loop.offload { try ScratchCluster("-restart-\(mode)") }
        defer { cluster.destroy() }
        _ = try await Loop.offload {
            try cluster.query("postgres", "CREATE SCHEMA shop; CREATE TABLE shop.writes (id bigint PRIMARY KEY)")
        }
        let database = Database(
            DatabaseConfiguration(
                connectionString: "host=\(cluster.folder) dbname=postgres user=postgres", schema: "shop", poolSize: 4))
        database.start()
        defer { database.close() }
        try await database.waitUntilAvailable()
        let writers = Writers(database)
        let work = (0..<6).map { writer in Loop.spawn { try await writers.run(writer) } }
        for _ in 0..<5 {
            let known = writers.done
            #expect(try await eventually { writers.done > known + 50 })
            try await Loop.offload { try cluster.restart(mode) }
        }
        let known = writers.done
        #expect(try await eventually { writers.done > known + 50 })
        writers.isStopped = true
        for task in work { try await task.value }
        let rows = try await Loop.offload { try cluster.query("postgres", "SELECT id FROM shop.writes") }
        let there = Set(rows.split(separator: "\n").compactMap { Int64($0) })
        for (id, outcome) in writers.outcomes {
            switch outcome {
            case .done: #expect(there.contains(id))
            case .notDone: #expect(!there.contains(id))
            case .unknown: break
            }
        }
        #expect(there.isSubset(of: writers.outcomes.keys))
    }

    @Loop private final class Writers {
        let database: Database
        private let group: BatchWriter
        var isStopped = false
        private(set) var outcomes: [Int64: WriteOutcome] = [:]
        private(set) var done = 0
        private var last: Int64 = 0

        init(_ database: Database) {
            self.database = database
            group = BatchWriter(
                database,
                """
                WITH added AS (INSERT INTO writes (id) SELECT id FROM unnest($1::bigint[]) AS g (id) RETURNING id)
                SELECT place FROM added JOIN unnest($1::bigint[]) WITH ORDINALITY AS g (id, place) USING (id)
                """)
        }

        func run(_ writer: Int) async throws {
            while !isStopped {
                last += 1
                let id = last
                do {
                    try await write(id, as: [.statement, .transaction, .groupRow][writer % 3])
                    outcomes[id] = .done
                    done += 1
                } catch let error as DatabaseError {
                    outcomes[id] = error.busError.executed == .no ? .notDone : .unknown
                    try await Loop.sleep(for: .milliseconds(1))
                }
            }
        }

        private enum Kind { case statement, transaction, groupRow }

        private func write(_ id: Int64, as kind: Kind) async throws {
            let insert: Statement = "INSERT INTO writes (id) VALUES ($1)"
            switch kind {
            case .statement: _ = try await database.write(insert, [.integer(id)])
            case .transaction: try await database.transaction { $0.send(insert, [.integer(id)]) }
            case .groupRow: #expect(try await group.write([.integer(id)]) != nil)
            }
        }
    }
}
