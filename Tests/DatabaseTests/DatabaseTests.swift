import BusProtocol
import EventLoop
import Glibc
import TestSupport
import Testing

@testable import Database

@Suite("database") @Loop struct DatabaseTests {
    private func open(_ scratch: ScratchDatabase, poolSize: Int = 4) async throws -> Database {
        let database = Database(scratch.configuration(poolSize: poolSize))
        database.start()
        try await database.waitUntilAvailable()
        return database
    }

    private static let things = Migration(
        name: "m0001_things",
        sql: "CREATE TABLE {{schema}}.things (id bigint PRIMARY KEY, label text NOT NULL CHECK (label <> 'bad'))")

    private func scratch() async throws -> ScratchDatabase {
        try await ScratchDatabase.make(schema: "shop", migrations: [Self.things])
    }

    @Test(
        "a network connection is open unless the server is verified",
        arguments: [
            ("host=/run/postgresql dbname=a", false), ("dbname=a user=b", false), ("postgresql:///a", false),
            ("host=db.example", true), ("host=db.example sslmode=require", true),
            ("postgresql://db/a?sslmode=verify-ca", true),
            ("host=db.example sslmode=verify-full", false), ("postgresql://db.example/a?sslmode=verify-full", false),
            ("host=/run/postgresql,db.example", true), ("host=/run/postgresql hostaddr=192.0.2.1", true),
        ])
    func openWays(connectionString: String, isOpen: Bool) {
        #expect(DatabaseConfiguration.isOpenToTheNetwork(connectionString) == isOpen)
    }

    @Test(
        "hosts of standbys count, too, and a host address is found",
        arguments: [
            ("host=/run/postgresql dbname=a", "db2", true, false),
            ("dbname=a sslmode=verify-full", "db2", false, false),
            ("host=db.example dbname=a", "/run/postgresql", false, false),
            ("host=db.example hostaddr=192.0.2.1", "db2", true, true),
        ])
    func otherHosts(connectionString: String, standbys: String, isOpen: Bool, hasAddress: Bool) {
        #expect(DatabaseConfiguration.isOpenToTheNetwork(connectionString, standbys: standbys) == isOpen)
        #expect(DatabaseConfiguration.hasAddress(connectionString) == hasAddress)
    }

    @Test func everyTypeReadsBackAsWritten() async throws {
        let database = try await open(try await scratch())
        defer { database.close() }
        let id = Identifier.ordered(), at = Timestamp("2026-02-20T09:00:00.123456Z"), day = CivilDate("1999-12-31")
        let row = try #require(
            try await database.read(
                "SELECT $1::bool b, $2::bytea y, $3::int8 i, $4::text t, $5::uuid u, $6::jsonb j, $7::date d, $8::timestamptz s, $9::text[] a, $10::float8 f, $11::text n, $12::text[] e",
                [
                    .bool(true), .bytes([0, 1, 255]), .integer(-5), .text("å😀'\\"), .uuid(id),
                    .json(Array(#"{"a": 1}"#.utf8)),
                    .date(day), .timestamp(at), .textArray(["x", "", "y,{"]), .double(-0.25), .text(nil),
                    .textArray([]),
                ]
            ).first)
        #expect(try row.bool("b"))
        #expect(try row.bytes("y") == [0, 1, 255])
        #expect(try row.integer("i") == -5)
        #expect(try row.text("t") == "å😀'\\")
        #expect(try row.uuid("u") == id)
        #expect(try row.json("j") == Array(#"{"a": 1}"#.utf8))
        #expect(try row.optionalDate("d") == day)
        #expect(try row.timestamp("s") == at)
        #expect(try row.textArray("a") == ["x", "", "y,{"])
        #expect(try row.optionalDouble("f") == -0.25)
        #expect(try row.optionalText("n") == nil)
        #expect(try row.textArray("e") == [])
        #expect(throws: DatabaseError.self) { try row.text("n") }
    }

    @Test func aZeroCharacterIsRefusedAndNotCut() async throws {
        let database = try await open(try await scratch())
        defer { database.close() }
        await #expect(throws: DatabaseError.statement(sqlState: "22021", constraint: nil)) {
            try await database.write("INSERT INTO things (id, label) VALUES (1, $1)", [.text("a\u{0}b")])
        }
        #expect(try await database.read("SELECT id FROM things").isEmpty)
    }

    @Test func aFailedReadDoesNotFailItsNeighbour() async throws {
        let database = try await open(try await scratch())
        defer { database.close() }
        let reads = Reads(database)
        let bad = Loop.spawn { try await reads.bad() }
        let good = Loop.spawn { try await reads.good() }
        #expect(try await good.value == 2)
        await #expect(throws: DatabaseError.statement(sqlState: "22012", constraint: nil)) { try await bad.value }
    }

    /// The refused read also aborts the preparation of the statement behind it, which the next turn uses already.
    @Test func anAbortedPreparationIsRepeated() async throws {
        let database = try await open(try await scratch())
        defer { database.close() }
        let reads = Reads(database)
        for number in 1...20 {
            let statement = Statement("SELECT \(number)::bigint AS number")
            let bad = Loop.spawn { try await reads.bad() }
            let first = Loop.spawn { try await database.read(statement).first?.integer("number") }
            let second = Loop.spawn {
                try await Loop.sleep(for: .zero)
                return try await database.read(statement).first?.integer("number")
            }
            #expect(try await first.value == Int64(number))
            #expect(try await second.value == Int64(number))
            await #expect(throws: DatabaseError.self) { try await bad.value }
        }
    }

    @Test func theLastStatementCommitsTheTransaction() async throws {
        let database = try await open(try await scratch())
        defer { database.close() }
        let insert: Statement = "INSERT INTO things (id, label) VALUES ($1, $2) RETURNING id"
        let id = try await database.transaction { transaction in
            transaction.send(insert, [.integer(1), .text("good")])
            let rows = try await transaction.queryLast(insert, [.integer(2), .text("good")])
            // Others see it before the transaction's own end.
            #expect(try await database.read("SELECT id FROM things").count == 2)
            return try rows.first?.integer("id")
        }
        #expect(id == 2)
        let bad = DatabaseError.statement(sqlState: "23514", constraint: "things_label_check")
        await #expect(throws: bad) {
            try await database.transaction { transaction in
                transaction.send(insert, [.integer(3), .text("good")])
                _ = try await transaction.queryLast(insert, [.integer(4), .text("bad")])
            }
        }
        await #expect(throws: bad) {
            try await database.transaction { transaction in
                transaction.send(insert, [.integer(5), .text("bad")])
                _ = try await transaction.queryLast(insert, [.integer(6), .text("good")])
            }
        }
        // The connections are as good as before.
        for number in 10..<20 { _ = try await database.write(insert, [.integer(Int64(number)), .text("good")]) }
        #expect(try await database.read("SELECT id FROM things WHERE id < 10").count == 2)
    }

    @Test func writesOfOneTurnAreTransactionsOfTheirOwn() async throws {
        let database = try await open(try await scratch())
        defer { database.close() }
        let writes = Writes(database)
        let tasks = (0..<20).map { number in
            Loop.spawn { try await writes.insert(number, number % 3 == 0 ? "bad" : "good") }
        }
        var failed = 0
        for task in tasks { if case .failure = await task.result { failed += 1 } }
        #expect(failed == 7)
        #expect(try await database.read("SELECT id FROM things").count == 13)
    }

    @Test func aThrowingTransactionRollsBackAndFreesItsConnection() async throws {
        let database = try await open(try await scratch(), poolSize: 2)
        defer { database.close() }
        await #expect(throws: CancellationError.self) {
            try await database.transaction { transaction in
                _ = try await transaction.query("INSERT INTO things (id, label) VALUES (1, 'a') RETURNING id")
                throw CancellationError()
            }
        }
        // A statement sent without waiting fails the commit.
        await #expect(throws: DatabaseError.statement(sqlState: "23514", constraint: "things_label_check")) {
            try await database.transaction { transaction in
                transaction.send("INSERT INTO things (id, label) VALUES (2, 'a')")
                transaction.send("INSERT INTO things (id, label) VALUES (3, 'bad')")
            }
        }
        // A failure that the body swallows is a failure all the same.
        await #expect(throws: DatabaseError.self) {
            try await database.transaction { transaction in
                _ = try? await transaction.query("SELECT 1 / 0")
            }
        }
        try await database.transaction { transaction in
            transaction.send("INSERT INTO things (id, label) VALUES (4, 'a')")
        }
        let ids = try await database.read("SELECT id FROM things").map { try $0.integer("id") }
        #expect(ids == [4])
    }

    @Test func aFullPoolRefusesInTime() async throws {
        var configuration = try await scratch().configuration(poolSize: 2)
        configuration.leaseTimeout = .milliseconds(50)
        let database = Database(configuration)
        database.start()
        defer { database.close() }
        try await database.waitUntilAvailable()
        // The connection for reads may stand before the one that is to be leased.
        while (try? await database.write("SELECT 1")) == nil {}
        try await database.transaction { transaction in
            _ = try await transaction.query("SELECT 1")
            await #expect(throws: DatabaseError.busy) { try await database.write("SELECT 1") }
        }
    }

    /// Told once, however many wait.
    @Test func aLockTimeoutIsReportedOnceWithItsTable() async throws {
        let database = try await open(try await scratch())
        defer { database.close() }
        var told: [DatabaseError] = []
        database.onTimeout = { told.append($0) }
        try await database.transaction { transaction in
            _ = try await transaction.query("LOCK TABLE things")
            for _ in 1...2 {
                let error = await #expect(throws: DatabaseError.self) {
                    try await database.write("INSERT INTO things (id, label) VALUES (1, 'x')")
                }
                #expect(error?.isLockTimeout == true)
            }
        }
        guard told.count == 1, case .statement("55P03", nil, let tables) = told[0] else {
            Issue.record("\(told)")
            return
        }
        #expect(tables == "things")
    }

    @Test(
        "the tables that a statement names",
        arguments: [
            ("SELECT a FROM things t WHERE b = $1", ["things"]), ("INSERT INTO things (id) VALUES ($1)", ["things"]),
            ("UPDATE things SET id = 1", ["things"]), ("SELECT n FROM generate_series(1, 2) AS n", []),
            ("SELECT x FROM (SELECT 1) s JOIN (things t JOIN parts p) ON true", ["things", "parts"]),
            ("WITH x AS (DELETE FROM things RETURNING id) SELECT id FROM x", ["things"]), ("SELECT 1", []),
            ("SELECT extract(epoch FROM t.at) FROM things t FOR UPDATE SKIP LOCKED", ["things"]),
        ] as [(String, [String])])
    func tables(sql: String, tables: [String]) { #expect(Statement(sql).tables == tables) }

    @Test func aStatementThatCannotBePreparedSaysWhy() async throws {
        let database = try await open(try await scratch(), poolSize: 2)
        defer { database.close() }
        let missing = DatabaseError.statement(sqlState: "42P01", constraint: nil)
        await #expect(throws: missing) { try await database.read("SELECT id FROM nowhere") }
        await #expect(throws: missing) { try await database.transaction { _ = try await $0.query("TABLE nowhere") } }
        #expect(try await database.read("SELECT id FROM things").isEmpty)
    }

    @Test func lostConnectionsFailTheirStatementsAndAreReplaced() async throws {
        let scratch = try await scratch()
        let database = try await open(scratch)
        defer { database.close() }
        let reads = Reads(database)
        let slow = (0..<3).map { _ in Loop.spawn { try await reads.slow() } }
        while try await scratch.query("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "0" {}
        try await scratch.query(
            """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE datname = current_database() AND usename = 'scratch_runtime'
            """)
        for read in slow {
            switch await read.result {
            case .success: Issue.record("the connection was lost")
            case .failure(let error): #expect((error as? DatabaseError)?.busError.code == "service_unavailable")
            }
        }
        while (try? await database.write("INSERT INTO things (id, label) VALUES (1, 'a')")) == nil {}
        try await database.waitUntilAvailable()
        #expect(try await database.read("SELECT id FROM things").count == 1)
    }

    /// The server ends before the loop notices it, so the statement fails when it is sent.
    @Test func aReadOnALostConnectionFailsWithoutHanging() async throws {
        let scratch = try await scratch()
        let cluster = try ScratchCluster.shared.get()
        let database = try await open(scratch, poolSize: 2)
        defer { database.close() }
        for _ in 0..<20 {
            while (try? await database.read("SELECT id FROM things")) == nil {}
            while (try? await database.write("SELECT 1")) == nil {}
            let ours = "FROM pg_stat_activity WHERE datname = current_database() AND usename = 'scratch_runtime'"
            try cluster.query(scratch.name, "SELECT count(pg_terminate_backend(pid)) \(ours)")
            while try cluster.query(scratch.name, "SELECT count(*) \(ours)") != "0" {}
            var failure: (any Error)?
            Loop.spawn { @Loop in
                do { _ = try await database.read("SELECT id FROM things") } catch { failure = error }
            }
            try #require(try await eventually { failure != nil }, "nobody answers the read")
            // The error comes from the server's last message, if it came in time, or from the closed connection.
            #expect(
                (failure as? DatabaseError)?.busError.code == "service_unavailable", "\(String(describing: failure))")
        }
    }

    private static func thing(_ id: Int) -> Statement {
        Statement("INSERT INTO things (id, label) VALUES (\(id), 'a') ON CONFLICT DO NOTHING")
    }

    @Test func aSilentServerIsGivenUpAndConnectedToAgain() async throws {
        let scratch = try await scratch()
        var configuration = scratch.configuration(poolSize: 2)
        configuration.silenceLimit = .seconds(1)
        let database = Database(configuration)
        database.start()
        defer { database.close() }
        try await database.waitUntilAvailable()
        // One that was answered too late is done all the same.
        while (try? await database.write(Self.thing(1))) == nil {}
        // Its processes hold their connections open and answer nothing, as behind a broken network.
        let processes = try await scratch.query(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND usename = 'scratch_runtime'")
        let frozen = processes.split(separator: "\n").compactMap { pid_t($0) }
        #expect(frozen.count >= 2)
        for process in frozen { kill(process, SIGSTOP) }
        defer { for process in frozen { kill(process, SIGCONT) } }
        await #expect(throws: DatabaseError.unavailable) { try await database.read("SELECT id FROM things") }
        while (try? await database.write(Self.thing(2))) == nil {}
        try await database.waitUntilAvailable()
        #expect(try await database.read("SELECT id FROM things").count == 2)
    }

    @Test func theRuntimeRoleChangesRowsAndNoTables() async throws {
        let database = try await open(try await scratch())
        defer { database.close() }
        for statement: Statement in [
            "ALTER TABLE things ADD COLUMN x int", "DROP TABLE things", "CREATE TABLE more (id int)",
            "DELETE FROM schema_migrations",
        ] {
            await #expect(throws: DatabaseError.statement(sqlState: "42501", constraint: nil)) {
                try await database.write(statement)
            }
        }
    }
}

@Loop private final class Reads {
    let database: Database
    init(_ database: Database) { self.database = database }
    func bad() async throws { _ = try await database.read("SELECT 1 / $1", [.integer(0)]) }
    func slow() async throws { _ = try await database.read("SELECT 1 AS one FROM pg_sleep(4)") }
    func good() async throws -> Int64 {
        try await database.read("SELECT 1 + $1 AS two", [.integer(1)]).first?.integer("two") ?? 0
    }
}

@Loop private final class Writes {
    let database: Database
    init(_ database: Database) { self.database = database }
    func insert(_ id: Int, _ label: String) async throws {
        _ = try await database.write(
            "INSERT INTO things (id, label) VALUES ($1, $2)", [.integer(Int64(id)), .text(label)])
    }
}
