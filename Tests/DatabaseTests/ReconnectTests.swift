import EventLoop
import TestSupport
import Testing

@testable import Database

@Suite("a server that is away") @Loop struct ReconnectTests {
    @Test func aRefusingServerIsTriedByOneConnectionWithGrowingPauses() async throws {
        let server = try RefusingServer()
        defer { server.close() }
        let database = Database(
            DatabaseConfiguration(
                connectionString: "host=\(server.folder) dbname=x user=x password=geheim", schema: "shop", poolSize: 16)
        )
        var changes: [Database.Change] = []
        database.onChange = { changes.append($0) }
        database.start()
        defer { database.close() }
        #expect(try await eventually { server.called.count >= 6 })
        let called = server.called
        // 50, 100, 200, 400 and 800 ms: load makes them longer, never shorter.
        for (index, pause) in [50, 100, 200, 400, 800].enumerated() {
            #expect(called[index + 1] - called[index] >= pause * 900_000, "before attempt \(index + 2)")
        }
        #expect(changes == [.lost(reason: "server closed the connection unexpectedly")], "said once")
    }

    @Test func anOutageIsReportedWithItsReasonAndItsEnd() async throws {
        let scratch = try await ScratchDatabase.make(schema: "shop")
        let database = Database(scratch.configuration())
        var changes: [Database.Change] = []
        database.onChange = { changes.append($0) }
        database.start()
        defer { database.close() }
        #expect(try await eventually { database.pool.connections == 2 })
        #expect(changes.isEmpty, "what was never away is not back")
        try await scratch.refuseConnections()
        #expect(try await eventually { changes.count == 2 })
        #expect(changes.first == .lost(reason: "57P01"))
        #expect(
            changes.last == .lost(reason: "database \"\(scratch.name)\" is not currently accepting connections"))
        try await scratch.takeConnections()
        #expect(try await eventually { database.pool.connections == 2 })
        #expect(changes.count == 3 && changes.last == .back)
    }

    @Test func theServerSeesOnlyAsManyConnectionsAsNeeded() async throws {
        let scratch = try await ScratchDatabase.make(schema: "shop")
        var configuration = scratch.configuration(poolSize: 6)
        configuration.idleLimit = .milliseconds(400)
        let database = Database(configuration)
        var changes: [Database.Change] = []
        database.onChange = { changes.append($0) }
        database.start()
        defer { database.close() }
        #expect(try await eventually { database.pool == Database.PoolState(connections: 2, idle: 1, waiting: 0) })
        let end = LoopPromise<Void>()
        let transactions = (0..<3).map { _ in
            Loop.spawn { try await database.transaction { _ in try await end.get() } }
        }
        #expect(
            try await eventually { database.pool == Database.PoolState(connections: 5, idle: 1, waiting: 0) },
            "the reading one, three in use and one to spare")
        let more = (0..<7).map { _ in Loop.spawn { try await database.transaction { _ in try await end.get() } } }
        #expect(try await eventually { database.pool == Database.PoolState(connections: 6, idle: 0, waiting: 5) })
        end.resolve(.success(()))
        for transaction in transactions + more { try await transaction.value }
        #expect(try await eventually { database.pool == Database.PoolState(connections: 2, idle: 1, waiting: 0) })
        #expect(try await eventually { try await scratch.query(Self.backends) == "3" }, "this look is the third")
        #expect(changes.isEmpty, "nothing was lost")
    }
    private static let backends = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"

    /// A service that gets fewer connections than it wants goes on with those that it has.
    @Test func aFullServerIsReportedToo() async throws {
        let scratch = try await ScratchDatabase.make(schema: "shop")
        let name = scratch.name
        // Ask from another database, since a connection to this one would count.
        let elsewhere = try await Loop.offload { try ScratchCluster.shared.get() }
        _ = try await Loop.offload { try elsewhere.query("postgres", "ALTER DATABASE \(name) CONNECTION LIMIT 2") }
        let database = Database(scratch.configuration())
        var changes: [Database.Change] = []
        database.onChange = { changes.append($0) }
        database.start()
        defer { database.close() }
        #expect(try await eventually { database.pool.connections == 2 })
        let end = LoopPromise<Void>()
        // Using the spare connection makes the pool want another one.
        let transaction = Loop.spawn { try await database.transaction { _ in try await end.get() } }
        #expect(try await eventually { !changes.isEmpty })
        #expect(changes == [.refused(reason: "too many connections for database \"\(name)\"")])
        #expect(database.isAvailable && database.pool.connections == 2)
        try await scratch.query("ALTER DATABASE \(name) CONNECTION LIMIT -1")
        #expect(try await eventually { changes.last == .back && database.pool.connections == 3 })
        end.resolve(.success(()))
        try await transaction.value
    }

    @Test(
        "a reason reveals nothing of the connection string",
        arguments: [
            (
                "connection to server at \"10.0.0.1\", port 5432 failed: Connection refused\n\tIs the server running?\n",
                "Connection refused"
            ),
            (
                "connection to server on socket \"/x/.s.PGSQL.5432\" failed: FATAL:  password authentication failed for user \"a\"\n",
                "password authentication failed for user \"a\""
            ),
            (
                "connection to server at \"a\" failed: timeout expired\nconnection to server at \"b\" failed: Connection refused\n",
                "Connection refused"
            ),
            (
                "could not translate host name \"db\" to address: Name or service not known\n",
                "\"db\" to address: Name or service not known"
            ),
            ("missing \"=\" after \"geheim\" in connection info string\n", unknown),
            ("invalid port number: \"geheim\"\n", unknown), ("", unknown),
            ("ERROR:  23505\nDETAIL:  Key (phone)=(+46701234567) already exists.\n", unknown),
        ])
    nonisolated func reasons(message: String, expected: String) {
        #expect(ConnectionFailure.reason(message) == expected)
    }

    private nonisolated static let unknown = "the connection string cannot be used, or libpq gave no reason"
}
