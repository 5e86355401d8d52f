import Cryptography
import EventLoop
import TestSupport
import Testing
import Values

@testable import Database

/// A standby that becomes the primary, and commits that no standby has confirmed.
@Suite("a failover") @Loop struct FailoverTests {
    private static let person = Identifier.random()

    /// The producer's server loses what its standby has not received. The subscriber is in another cluster and has it.
    @Test func afterAFailoverEventsAndClockAreThoseOfANewServer() async throws {
        let primary = try await Loop.offload { try ScratchCluster("-primary") }
        defer { primary.destroy() }
        _ = try await Migrator.run(
            owner: "host=\(primary.folder) dbname=postgres user=postgres", schema: "shop",
            runtimeRole: "scratch_runtime", migrations: [])
        let standby = try await Loop.offload { try ScratchCluster("-standby", following: primary) }
        defer { standby.destroy() }
        let database = Database(
            DatabaseConfiguration(
                connectionString: "host=\(standby.folder),\(primary.folder) dbname=postgres user=scratch_runtime",
                schema: "shop"))
        database.start()
        defer { database.close() }
        let producer = Outbox(database: database, keys: try KeyRing(contents: KeyRing.generate(id: "k")))
        let subscriber = Database(try await ScratchDatabase.make(schema: "mail").configuration())
        subscriber.start()
        defer { subscriber.close() }
        try await subscriber.waitUntilAvailable()
        // The standby comes first in the connection string, and takes no writes.
        try await database.waitUntilAvailable()
        // The connection for statistics prefers the standby, though the primary comes first in its list.
        var counting = database.configuration
        counting.standbys = "\(primary.folder),\(standby.folder)"
        let counter = Database(counting)
        counter.start()
        try await counter.waitUntilAvailable()
        let place: Statement = "SELECT pg_is_in_recovery() AS is_standby"
        #expect(try await counter.read(place)[0].bool("is_standby"))
        #expect(try await !database.read(place)[0].bool("is_standby"))
        counter.close()

        let relay = OutboxRelay(producer) { _ in }
        var alarms: [OutboxAlarm] = []
        relay.onAlarm = { alarms.append($0) }
        let relaying = Loop.spawn { await relay.run() }
        let marks: Statement = "SELECT FROM clock_marks"
        #expect(try await eventually { try await !database.read(marks).isEmpty })

        let (first, isTaken) = try await publish(producer, to: subscriber)
        #expect(isTaken)
        try await Loop.offload {
            // Nobody gets into the next primary before its clock is wrong.
            try primary.query("postgres", "ALTER ROLE scratch_runtime NOLOGIN")
            try standby.waitForAll(of: primary)
            try standby.stop("fast")
        }
        #expect(try await publish(producer, to: subscriber) == (first + 1, true))
        #expect(try await publish(producer, to: subscriber) == (first + 2, true))
        try await Loop.offload {
            try primary.stop("immediate")
            try standby.start()
            try standby.promote()
            try standby.query(
                "postgres",
                """
                CREATE OR REPLACE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
                    'SELECT statement_timestamp() + interval ''2 minutes''';
                ALTER ROLE scratch_runtime LOGIN
                """)
        }
        #expect(try await eventually { alarms == [.clockJumped(onNewPrimary: true)] })
        let (next, isNextTaken) = try await publish(producer, to: subscriber)
        #expect(isNextTaken && next > first + 2)
        #expect(try await publish(producer, to: subscriber) == (next + 1, true))
        await relay.stop()
        try await relaying.value
    }

    /// A producer's schema is restored from a dump, or made anew because there is none. Timeline and cluster stay the same.
    /// The subscriber has the lost events.
    @Test func aRestoreDoesNotBringTheNumbersOfLostEventsAgain() async throws {
        let shop = try await ScratchDatabase.make(schema: "shop")
        let cluster = try ScratchCluster.shared.get()
        let subscriber = Database(try await ScratchDatabase.make(schema: "mail").configuration())
        subscriber.start()
        defer { subscriber.close() }
        try await subscriber.waitUntilAvailable()
        #expect(try await publish(1, from: shop, to: subscriber) == [1])
        try await Loop.offload { try cluster.dump("shop", in: shop.name) }
        #expect(try await publish(2, from: shop, to: subscriber) == [2, 3])
        try await Loop.offload { try cluster.restore("shop", in: shop.name) }
        let numbers = try await publish(2, from: shop, to: subscriber)
        try #require(numbers.count == 2)
        #expect(numbers[0] > 3 && numbers[1] == numbers[0] + 1)
        try await shop.query("DROP SCHEMA shop CASCADE")
        _ = try await Migrator.run(
            owner: shop.owner, schema: "shop", runtimeRole: "scratch_runtime", migrations: [])
        let anew = try await publish(1, from: shop, to: subscriber)
        #expect(anew.count == 1)
        // Two runs are lost one after the other, from the same dump.
        try await Loop.offload { try cluster.dump("shop", in: shop.name) }
        for _ in 0..<2 {
            try await Loop.offload { try cluster.restore("shop", in: shop.name) }
            #expect(try await publish(2, from: shop, to: subscriber).count == 2)
        }
        // The clock was an hour ahead, and is set back.
        let hour = 3_600_000_000
        try await shop.query(
            "UPDATE event_runs SET first = first + \(hour); UPDATE outbox_sequences SET last = last + \(hour)")
        let ahead = try await publish(2, from: shop, to: subscriber)
        #expect(ahead.count == 2 && ahead[0] > anew[0] + Int64(hour))
        try await Loop.offload { try cluster.dump("shop", in: shop.name) }
        #expect(try await publish(1, from: shop, to: subscriber).count == 1)
        try await Loop.offload { try cluster.restore("shop", in: shop.name) }
        #expect(try await publish(1, from: shop, to: subscriber).count == 1)
    }

    @Test func theFirstTransactionsOfARunDoNotWaitForEachOther() async throws {
        let shop = try await ScratchDatabase.make(schema: "shop")
        try await shop.query("DELETE FROM event_runs")
        let database = Database(shop.configuration())
        database.start()
        defer { database.close() }
        try await database.waitUntilAvailable()
        let producer = Outbox(database: database, keys: try KeyRing(contents: KeyRing.generate(id: "k")))
        var numbers: [Identifier: [Int64]] = [:]
        @Loop func publish(about person: Identifier, in transaction: Transaction) async throws {
            try await producer.publish("shop.sold", version: 1, about: person, to: [], in: transaction) {
                numbers[person, default: []].append($0)
                return []
            }
        }
        let (one, other) = (Identifier.random(), Identifier.random())
        for _ in 0..<2 {
            try await database.transaction { outer in
                try await publish(about: one, in: outer)
                try await database.transaction { try await publish(about: other, in: $0) }
            }
        }
        #expect(try await shop.query("SELECT count(*) FROM event_runs") == "2")
        for person in [one, other] {
            let both = try #require(numbers[person])
            #expect(both.count == 2 && both[1] > both[0])
        }
    }

    /// Publishes events of a service that has just started.
    ///
    /// - Returns: the numbers of those that the subscriber took.
    private func publish(_ count: Int, from shop: ScratchDatabase, to subscriber: Database) async throws -> [Int64] {
        let database = Database(shop.configuration())
        database.start()
        defer { database.close() }
        try await database.waitUntilAvailable()
        let producer = Outbox(database: database, keys: try KeyRing(contents: KeyRing.generate(id: "k")))
        var taken: [Int64] = []
        for _ in 0..<count {
            let (sequence, isTaken) = try await publish(producer, to: subscriber)
            if isTaken { taken.append(sequence) }
        }
        return taken
    }

    /// Publishes an event and lets the subscriber have it.
    ///
    /// - Returns: its sequence, and whether the subscriber took it.
    private func publish(_ producer: Outbox, to subscriber: Database) async throws -> (Int64, Bool) {
        var sequence: Int64 = 0
        try await producer.database.transaction { transaction in
            try await producer.publish(
                MessageType(rawValue: "shop.sold"), version: 1, about: Self.person, to: [], in: transaction
            ) {
                sequence = $0
                return []
            }
        }
        let isTaken = try await subscriber.transaction { [sequence] in
            try await EventPosition.accept(
                sequence, about: Self.person, from: ServiceName(rawValue: "shop"), in: $0)
        }
        return (sequence, isTaken)
    }

    /// PostgreSQL answers such a commit as done, with a warning.
    @Test func aCommitCancelledWhileItAwaitsAStandbyIsUnknown() async throws {
        let server = try await Loop.offload { try ScratchCluster("-alone") }
        defer { server.destroy() }
        _ = try await Loop.offload {
            try server.query("postgres", "CREATE SCHEMA shop; CREATE TABLE shop.writes (id bigint PRIMARY KEY)")
            try server.query("postgres", "ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
            try server.query("postgres", "SELECT pg_reload_conf()")
        }
        let database = Database(
            DatabaseConfiguration(
                connectionString: "host=\(server.folder) dbname=postgres user=postgres", schema: "shop"))
        database.start()
        defer { database.close() }
        try await database.waitUntilAvailable()
        let insert: Statement = "INSERT INTO writes (id) VALUES ($1)"
        let writes: [@Loop (SQLValue) async throws -> Void] = [
            { _ = try await database.write(insert, [$0]) },
            { id in try await database.transaction { $0.send(insert, [id]) } },
            { id in try await database.transaction { _ = try await $0.queryLast(insert, [id]) } },
        ]
        var id: Int64 = 0
        for end in ["pg_cancel_backend", "pg_terminate_backend"] {
            for write in writes {
                id += 1
                let value = SQLValue.integer(id)
                let writing = Loop.spawn { try await write(value) }
                #expect(
                    try await eventually {
                        try await Loop.offload {
                            try server.query(
                                "postgres", "SELECT \(end)(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
                        } == "t"
                    })
                await #expect(throws: DatabaseError.commitUnknown) { try await writing.value }
                #expect(try await eventually { database.isAvailable })
                // The next commit of the connection does not inherit the warning.
                try await database.transaction {
                    $0.send("SET LOCAL synchronous_commit = local")
                    $0.send(insert, [.integer(100 + id)])
                }
            }
        }
        #expect(try await database.read("SELECT id FROM writes").count == 12)
    }

    @Test func theConnectionDemandSumsAllPoolsOfTheServer() async throws {
        let server = try await Loop.offload { try ScratchCluster("-pools") }
        defer { server.destroy() }
        var databases: [Database] = []
        defer { for database in databases { database.close() } }
        for (replica, size) in [("shop-1", 7), ("shop-2", 7), ("mail-1", 16)] {
            let database = Database(
                DatabaseConfiguration(
                    connectionString: "host=\(server.folder) dbname=postgres user=postgres", schema: "shop",
                    poolSize: size, applicationName: ConnectionDemand.name(replica, poolSize: size)))
            database.start()
            databases.append(database)
            #expect(try await eventually { database.pool.connections == 2 })
        }
        #expect(try await ConnectionDemand(databases[0]) == ConnectionDemand(pools: 30, most: 297))
    }

    @Test(arguments: [(480, 600, false), (481, 600, true), (0, 97, false), (288, 197, true)])
    func failoverNeedsPoolsOfAtMostFourFifthsOfConnections(pools: Int64, most: Int64, isTooHigh: Bool) {
        #expect(ConnectionDemand(pools: pools, most: most).isTooHigh == isTooHigh)
    }
}
