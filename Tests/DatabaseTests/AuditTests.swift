import BusProtocol
import Cryptography
import EventLoop
import TestSupport
import Testing

@testable import Database

@Suite("audit trail") @Loop struct AuditTests {
    /// A trail with two people, five acts each and between them, and acts of nobody.
    @Loop struct ServiceParts {
        let scratch: ScratchDatabase
        let database: Database
        let keys: KeyRing
        let trail: AuditTrail
        let anchors: AuditAnchors

        static func make() async throws -> ServiceParts {
            let scratch = try await ScratchDatabase.make(schema: "shop")
            let keys = try KeyRing(contents: KeyRing.generate(id: "k"))
            let database = Database(scratch.configuration(poolSize: 8))
            database.start()
            try await database.waitUntilAvailable()
            return ServiceParts(
                scratch: scratch, database: database, keys: keys, trail: AuditTrail(keys: keys),
                anchors: AuditAnchors(database: database, keys: keys))
        }

        func note(_ act: String, about person: Identifier) async throws -> AuditChain {
            try await database.transaction { transaction in
                let chain = try await trail.ensure(person, in: transaction)
                trail.note(AuditAct(act, ["door": "1", "\"": "\u{1F511}\\"]), on: chain, in: transaction)
                return chain
            }
        }

        /// - Returns: the chain of the first person.
        func fill() async throws -> AuditChain {
            let (first, second) = (Identifier.random(), Identifier.random())
            var chain = AuditChain.service
            for act in ["came", "knocked", "entered", "sat", "left"] {
                chain = try await note(act, about: first)
                _ = try await note(act, about: second)
                try await database.transaction {
                    trail.note(AuditAct("swept"), on: .service, in: $0)
                    trail.note(AuditAct("locked"), on: .service, in: $0)
                }
            }
            return chain
        }

        func report(against file: [AuditAnchorRun]? = nil) async throws -> AuditReport {
            try await AuditVerifier(database: database, keys: keys).verify(against: file)
        }

        /// As somebody who may do everything in the database.
        func tamper(_ sql: String, _ chain: AuditChain) async throws {
            try await scratch.query(
                "SET session_replication_role = replica; " + sql.replacing("CHAIN", with: "'\(chain.name)'"))
        }
    }

    @Test func anUntouchedTrailHolds() async throws {
        let parts = try await ServiceParts.make()
        defer { parts.database.close() }
        let empty = try await parts.report()
        #expect(empty.findings == [] && empty.rows == 0)
        _ = try await parts.fill()
        try await parts.anchors.anchorIfDue()
        _ = try await parts.fill()
        try await parts.anchors.anchorIfDue(isForced: true)
        _ = try await parts.fill()
        let report = try await parts.report(against: try await parts.anchors.runs(after: 0))
        #expect(report.findings == [])
        #expect(report.rows == 60 && report.chains == 7 && report.anchors == 6)
        let rows = try await parts.scratch.query("SELECT string_agg(details, '') FROM audit")
        #expect(rows.contains(#"{"\"":"🔑\\","door":"1"}"#))
    }

    private nonisolated static let rehash = """
        UPDATE audit_heads SET sequence = 0, hash = '' WHERE chain = CHAIN;
        CREATE TEMP TABLE copy AS SELECT * FROM audit WHERE chain = CHAIN;
        DELETE FROM audit WHERE chain = CHAIN;
        """

    @Test(
        "each tampering with the rows of a chain is found",
        arguments: [
            ("UPDATE audit SET details = '{}' WHERE chain = CHAIN AND sequence = 3", "row 3 (entered) does not follow"),
            ("UPDATE audit SET act = 'fled' WHERE chain = CHAIN AND sequence = 5", "row 5 (fled) does not follow"),
            (
                "UPDATE audit SET at = at - interval '1 s' WHERE chain = CHAIN AND sequence = 1",
                "row 1 (came) does not follow from the beginning"
            ),
            ("DELETE FROM audit WHERE chain = CHAIN AND sequence = 2", "row 2 is missing"),
            ("DELETE FROM audit WHERE chain = CHAIN AND sequence IN (2, 3)", "rows 2 to 3 are missing"),
            ("DELETE FROM audit WHERE chain = CHAIN AND sequence = 1", "row 1 is missing"),
            ("DELETE FROM audit WHERE chain = CHAIN AND sequence > 3", "rows 4 to 5 are missing"),
            ("DELETE FROM audit WHERE chain = CHAIN", "rows 1 to 5 are missing"),
            ("DELETE FROM audit_heads WHERE chain = CHAIN", "its head is missing"),
            ("UPDATE audit_heads SET hash = sha256('') WHERE chain = CHAIN", "its head is not that of row 5"),
            (
                """
                UPDATE audit SET sequence = 9 WHERE chain = CHAIN AND sequence = 3;
                UPDATE audit SET sequence = 3 WHERE chain = CHAIN AND sequence = 4;
                UPDATE audit SET sequence = 4 WHERE chain = CHAIN AND sequence = 9
                """, "row 3 (sat) does not follow from row 2"
            ),
            (
                """
                INSERT INTO audit SELECT chain, 6, act, at, details, hash FROM audit WHERE chain = CHAIN AND sequence = 5
                """, "row 6 is inserted behind the end that its head says"
            ),
            (
                """
                UPDATE audit SET sequence = -sequence - 1 WHERE chain = CHAIN AND sequence > 2;
                UPDATE audit SET sequence = -sequence WHERE chain = CHAIN AND sequence < 0;
                INSERT INTO audit SELECT chain, 3, 'entered', at, details, hash FROM audit WHERE chain = CHAIN AND sequence = 2;
                UPDATE audit_heads SET sequence = 6 WHERE chain = CHAIN
                """, "row 3 (entered) does not follow from row 2"
            ),
            (
                """
                UPDATE audit a SET details = b.details, act = b.act, at = b.at, hash = b.hash FROM audit b
                WHERE a.chain = CHAIN AND a.sequence = 1 AND b.chain = 'service' AND b.sequence = 1
                """, "row 1 (swept) does not follow from the beginning"
            ),
            // An attacker who also recomputes the hashes is caught by the anchors.
            (
                """
                DELETE FROM audit WHERE chain = CHAIN AND sequence > 3;
                UPDATE audit_heads h SET sequence = 3, hash = a.hash FROM audit a
                WHERE h.chain = CHAIN AND a.chain = CHAIN AND a.sequence = 3
                """, "row 5 is missing, which was anchored at"
            ),
            (
                rehash + "SELECT audit_append(CHAIN, act, details) FROM copy ORDER BY sequence",
                "row 5 is another than was anchored at"
            ),
            (
                "DELETE FROM audit WHERE chain = CHAIN; DELETE FROM audit_heads WHERE chain = CHAIN",
                "row 5 is missing, which was anchored at"
            ),
        ])
    func tampering(sql: String, expected: String) async throws {
        let parts = try await ServiceParts.make()
        defer { parts.database.close() }
        let chain = try await parts.fill()
        try await parts.anchors.anchorIfDue()
        try await parts.tamper(sql, chain)
        let findings = try await parts.report().findings
        #expect(findings.contains { $0.chain == chain.name && $0.text.hasPrefix(expected) }, "\(findings)")
        #expect(findings.allSatisfy { $0.chain == chain.name }, "of the others nothing is said")
    }

    @Test(
        "each tampering with the anchors is found",
        arguments: [
            ("DELETE FROM audit_anchors WHERE chain = CHAIN AND run = 1", "the anchors of run 1, made at "),
            ("UPDATE audit_anchors SET sequence = 4 WHERE chain = CHAIN AND run = 2", "the anchors of run 2, made at "),
            ("UPDATE audit_anchors SET run = 3 WHERE run = 2", "2 anchors of run 3, which nobody made"),
            ("UPDATE audit_anchor_runs SET at = now() WHERE run = 1", "the anchors of run 1, made at "),
            ("UPDATE audit_anchor_runs SET code = sha256('') WHERE run = 1", "the anchors of run 1, made at "),
            ("UPDATE audit_anchor_runs SET key_id = 'k0' WHERE run = 1", "run 1 was anchored with the key k0"),
            ("DELETE FROM audit_anchor_runs WHERE run = 1", "the anchors before run 2 are missing"),
            // In the database alone nothing would be seen of these.
            (
                """
                DELETE FROM audit_anchors WHERE run = 2; DELETE FROM audit_anchor_runs WHERE run = 2
                """, "run 2, made at "
            ),
        ])
    func tamperedAnchors(sql: String, expected: String) async throws {
        let parts = try await ServiceParts.make()
        defer { parts.database.close() }
        let chain = try await parts.fill()
        try await parts.anchors.anchorIfDue()
        _ = try await parts.note("returned", about: .random())
        try await parts.tamper("SELECT audit_append(CHAIN, 'returned', '{}')", chain)
        try await parts.anchors.anchorIfDue(isForced: true)
        let file = try await parts.anchors.runs(after: 0)
        try await parts.tamper(sql, chain)
        let findings = try await parts.report(against: file).findings
        #expect(findings.contains { $0.chain == nil && $0.text.hasPrefix(expected) }, "\(findings)")
    }

    @Test func anAnchorFileThatDisagreesWithTheDatabaseIsFound() async throws {
        let parts = try await ServiceParts.make()
        defer { parts.database.close() }
        _ = try await parts.fill()
        for _ in 0..<3 {
            _ = try await parts.note("came", about: .random())
            try await parts.anchors.anchorIfDue(isForced: true)
        }
        let runs = try await parts.anchors.runs(after: 0)
        #expect(try await parts.report(against: Array(runs.prefix(2))).findings == [], "the newest is on its way")
        let gap = try await parts.report(against: [runs[0], runs[2]]).findings
        #expect(gap.first?.text.hasSuffix("is not in the file of anchors") == true && gap.count == 1)
        let other = AuditAnchorRun(run: 2, at: runs[1].at, keyID: "k", code: runs[0].code)
        let changed = try await parts.report(against: [runs[0], other, runs[2]]).findings
        #expect(changed.first?.text.hasPrefix("run 2 is another in the file of anchors") == true && changed.count == 1)
    }

    @Test func concurrentActsOfOnePersonAreOneChain() async throws {
        let parts = try await ServiceParts.make()
        defer { parts.database.close() }
        let other = Database(parts.scratch.configuration(poolSize: 8))
        defer { other.close() }
        other.start()
        try await other.waitUntilAvailable()
        let person = Identifier.random()
        let tasks = (0..<80).map { number in
            Loop.spawn {
                let database = number % 2 == 0 ? parts.database : other
                try await patiently {
                    try await database.transaction { transaction in
                        let chain = try await parts.trail.ensure(person, in: transaction)
                        parts.trail.note(AuditAct("came"), on: chain, in: transaction)
                        parts.trail.note(AuditAct("left"), on: chain, in: transaction)
                    }
                }
            }
        }
        for task in tasks { try await task.value }
        let report = try await parts.report()
        #expect(report.findings == [] && report.rows == 160 && report.chains == 1)
        // The rows of one transaction are adjacent.
        let acts = try await parts.scratch.query(
            "SELECT count(*) FROM audit WHERE act = (ARRAY['left', 'came'])[sequence % 2 + 1]")
        #expect(acts == "160")
    }

    @Test func actsThatWereRolledBackLeaveNothing() async throws {
        let parts = try await ServiceParts.make()
        defer { parts.database.close() }
        await #expect(throws: BusError.self) {
            try await parts.database.transaction { transaction in
                parts.trail.note(AuditAct("came"), on: .service, in: transaction)
                _ = try await transaction.query("SELECT 1")
                throw BusError(.forbidden, "No.")
            }
        }
        #expect(try await parts.scratch.query("SELECT count(*) FROM audit_heads") == "0")
    }

    @Test(
        "neither the service nor the owner can change the trail",
        arguments: [
            "UPDATE audit SET act = 'x'", "DELETE FROM audit", "TRUNCATE audit",
            "UPDATE audit_anchors SET sequence = 1",
            "DELETE FROM audit_anchors", "UPDATE audit_anchor_runs SET code = ''", "DELETE FROM audit_anchor_runs",
        ])
    func appendOnly(sql: String) async throws {
        let parts = try await ServiceParts.make()
        defer { parts.database.close() }
        _ = try await parts.fill()
        try await parts.anchors.anchorIfDue()
        var configuration = parts.scratch.configuration()
        configuration.connectionString = parts.scratch.owner
        let owner = Database(configuration)
        defer { owner.close() }
        owner.start()
        try await owner.waitUntilAvailable()
        for database in [parts.database, owner] {
            await #expect(throws: DatabaseError.statement(sqlState: "42501", constraint: nil)) {
                _ = try await database.write(Statement(sql))
            }
        }
        #expect(try await parts.report().findings == [])
    }

    @Test(
        "the service adds rows by the function only",
        arguments: [
            "INSERT INTO audit SELECT chain, 9, act, at, details, hash FROM audit", "UPDATE audit_heads SET hash = ''",
            "DELETE FROM audit_heads", "INSERT INTO audit_heads (chain, sequence, hash) VALUES ('x', 1, '')",
            "INSERT INTO audit_anchors SELECT 9, chain, sequence, hash FROM audit",
            "ALTER TABLE audit DISABLE TRIGGER ALL",
        ])
    func byTheFunctionOnly(sql: String) async throws {
        let parts = try await ServiceParts.make()
        defer { parts.database.close() }
        await #expect(throws: DatabaseError.statement(sqlState: "42501", constraint: nil)) {
            _ = try await parts.database.write(Statement(sql))
        }
    }

    @Test func aPersonHasOnePseudonymUntilTheyAreForgotten() async throws {
        let parts = try await ServiceParts.make()
        defer { parts.database.close() }
        let person = Identifier.random()
        let chains = try await atOnce(8) { () -> AuditChain in
            try await patiently {
                try await parts.database.transaction { try await parts.trail.ensure(person, in: $0) }
            }
        }
        #expect(Set(chains).count == 1 && chains[0].name.count == 22)
        let begun = try await parts.database.transaction { transaction async throws -> AuditChain in
            let other = Identifier.random()
            let begun = parts.trail.begin(other, in: transaction)
            #expect(try await parts.trail.chain(of: other, in: transaction) == begun)
            return begun
        }
        #expect(begun != chains[0])
        try await parts.database.transaction { transaction async throws -> Void in
            #expect(try await parts.trail.chain(of: person, in: transaction) == chains[0])
            Erasure.erase(person, in: transaction)
            #expect(try await parts.trail.chain(of: person, in: transaction) == .service)
            #expect(try await parts.trail.ensure(person, in: transaction) != chains[0])
        }
    }

    @Test func anchorsAreMadeEachHourOfChainsThatGrew() async throws {
        let parts = try await ServiceParts.make()
        defer { parts.database.close() }
        try await parts.anchors.anchorIfDue()
        #expect(try await parts.anchors.runs(after: 0) == [], "of nothing there are none")
        _ = try await parts.fill()
        for _ in 0..<2 { try await parts.anchors.anchorIfDue() }
        _ = try await parts.note("came", about: .random())
        try await parts.anchors.anchorIfDue()
        #expect(try await parts.anchors.runs(after: 0).map(\.run) == [1])
        try await parts.tamper("UPDATE audit_anchor_runs SET at = at - interval '1 hour'", .service)
        _ = try await atOnce(4) { try await patiently { try await parts.anchors.anchorIfDue() } }
        #expect(
            try await parts.scratch.query("SELECT run, count(*) FROM audit_anchors GROUP BY 1 ORDER BY 1") == "1|3\n2|1"
        )
    }

    @Test(
        "the service's role makes the next run, whole, or none",
        arguments: [
            // Each of these alone would mark rows as anchored although they are in no run.
            ["SELECT 1 FROM audit_anchor(2, 500)"], ["SELECT 1 FROM audit_anchor(2, 1)"],
            ["SELECT 1 FROM audit_anchor(-1, 500)"], ["SELECT 1 FROM audit_anchor(3, 500)"],
            ["SELECT 1 FROM audit_anchor(9223372036854775807, 500)"], ["SELECT 1 FROM audit_anchor(NULL, 500)"],
            ["SELECT 1 FROM audit_anchor(2, 500)", run(3, "clock_timestamp()")],
            ["SELECT 1 FROM audit_anchor(2, 500)", run(2, "'infinity'")],
            ["SELECT 1 FROM audit_anchor(2, 500)", run(2, "now() - interval '1 hour'")],
            ["SELECT 1 FROM audit_anchor(2, 0)", run(2, "clock_timestamp()")], [run(2, "clock_timestamp()")],
            [run(1, "clock_timestamp()")], [run(.max, "clock_timestamp()")], [run(.min, "clock_timestamp()")],
            ["SET CONSTRAINTS ALL DEFERRED", "SELECT 1 FROM audit_anchor(2, 500)"],
        ])
    func onlyTheNextRun(statements: [String]) async throws {
        let parts = try await ServiceParts.make()
        defer { parts.database.close() }
        _ = try await parts.fill()
        try await parts.anchors.anchorIfDue()
        _ = try await parts.fill()
        await #expect(throws: DatabaseError.self) {
            try await parts.database.transaction { transaction in
                for sql in statements { transaction.send(Statement(sql)) }
            }
        }
        #expect(try await parts.scratch.query("SELECT count(*) FROM audit_heads WHERE NOT is_anchored") == "3")
        try await parts.anchors.anchorIfDue(isForced: true)
        #expect(try await parts.report().findings == [])
        #expect(try await parts.scratch.query("SELECT count(*) FROM audit_heads WHERE NOT is_anchored") == "0")
    }

    private nonisolated static func run(_ run: Int64, _ at: String) -> String {
        "INSERT INTO audit_anchor_runs (run, at, key_id, code) VALUES (\(run), \(at), 'k', '')"
    }

    @Test("every row older than two hours is in one run", arguments: ["1 hour", "3 hours"])
    func coverage(age: String) async throws {
        let parts = try await ServiceParts.make()
        defer { parts.database.close() }
        // As rows stand that were written then, with the hashes that they had.
        _ = try await parts.fill()
        try await parts.anchors.anchorIfDue()
        _ = try await parts.fill()
        let late = Timestamp.now() - (age == "1 hour" ? .seconds(3600) : .seconds(10_800))
        let line = AuditHash.hash(
            previous: [], chain: "late", sequence: 1, at: late, act: "came", details: "{}")
        _ = try await parts.scratch.query(
            """
            SET session_replication_role = replica;
            INSERT INTO audit VALUES ('late', 1, 'came', '\(late)', '{}', '\\x\(Hex.encode(line))');
            INSERT INTO audit_heads VALUES ('late', 1, '\\x\(Hex.encode(line))', true)
            """)
        let findings = try await parts.report().findings
        let expected = "row 1 is in no run of anchors, and is older than 2 hours: of \(late)"
        #expect(findings == (age == "1 hour" ? [] : [.init(chain: "late", text: expected)]))
    }

    @Test(
        "malformed anchors do not stop a verification",
        arguments: [
            (
                "INSERT INTO audit_anchor_runs VALUES (9223372036854775807, now(), 'k', '')",
                "run 9223372036854775807 has a number that no run is given"
            ),
            (
                "INSERT INTO audit_anchor_runs VALUES (-9223372036854775808, 'infinity', 'k', '')",
                "run -9223372036854775808 has a number that no run is given"
            ),
            ("INSERT INTO audit_anchor_runs VALUES (7, 'infinity', 'k', '')", "the anchors before run 7 are missing"),
            ("INSERT INTO audit_anchor_runs VALUES (2, '-infinity', 'k', '')", "the anchors of run 2, made at 0001-"),
            ("INSERT INTO audit_anchors SELECT 9, chain, sequence, hash FROM audit_heads", "3 anchors of run 9, which"),
            (
                "INSERT INTO audit_anchors SELECT 9223372036854775807, 'service', 1, ''",
                "1 anchor of run 9223372036854775807, which"
            ),
        ])
    func oddAnchors(sql: String, expected: String) async throws {
        let parts = try await ServiceParts.make()
        defer { parts.database.close() }
        let chain = try await parts.fill()
        try await parts.anchors.anchorIfDue()
        try await parts.tamper(sql, chain)
        let findings = try await parts.report().findings
        #expect(findings.contains { $0.chain == nil && $0.text.hasPrefix(expected) }, "\(findings)")
        // The service goes on, too.
        _ = try await parts.fill()
        try await parts.anchors.anchorIfDue(isForced: true)
        #expect(try await parts.anchors.runs(after: 0).allSatisfy { $0.run < 10 })
    }

    @Test(
        "malformed rows of a chain do not stop a verification",
        arguments: [
            "UPDATE audit SET sequence = 9223372036854775807 WHERE chain = CHAIN AND sequence = 5",
            "UPDATE audit SET sequence = -9223372036854775808 WHERE chain = CHAIN AND sequence = 5",
            "UPDATE audit SET at = 'infinity' WHERE chain = CHAIN AND sequence = 5",
            "UPDATE audit SET at = '-infinity' WHERE chain = CHAIN AND sequence = 1",
            "UPDATE audit_heads SET sequence = 9223372036854775807 WHERE chain = CHAIN",
            "UPDATE audit_heads SET sequence = -9223372036854775808 WHERE chain = CHAIN",
        ])
    func oddRows(sql: String) async throws {
        let parts = try await ServiceParts.make()
        defer { parts.database.close() }
        let chain = try await parts.fill()
        try await parts.tamper(sql, chain)
        let findings = try await parts.report().findings
        #expect(!findings.isEmpty && findings.allSatisfy { $0.chain == chain.name }, "\(findings)")
    }

    @Test func manyChainsAreAnchoredInSeveralRuns() async throws {
        let parts = try await ServiceParts.make()
        defer { parts.database.close() }
        try await parts.scratch.query("SELECT audit_append('c' || n, 'came', '{}') FROM generate_series(1, 1001) n")
        try await parts.anchors.anchorIfDue()
        #expect(try await parts.anchors.runs(after: 0).count == 3)
        let report = try await parts.report()
        #expect(report.findings == [] && report.anchors == 1001)
    }
}
