import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

@testable import RecoveryService

/// How quick the queue and a page are among a million cases, `scripts/bench-recoveries` measures.
@Suite("recovery with many cases", .serialized) struct MeasureTests {
    /// Makes held cases with their timers. Their holds end within a number of seconds, on a day far in the future.
    @Loop private func make(_ count: Int, endingWithin seconds: Int, _ recovery: RecoveryStage) async throws {
        try await recovery.stage.rows(
            """
            INSERT INTO cases (id, account_id, account_reference, claimant_reference, is_decoy, status, hold_until, told)
            SELECT gen_random_uuid(), gen_random_uuid(), 'a' || n, 'c' || n, false, 'held',
                \(Self.far) + random() * interval '\(seconds) s', 1
            FROM generate_series(1, \(count)) AS n
            """)
        let container = recovery.stage.containers[0]
        let rows = try await container.database.read("SELECT id, hold_until FROM cases")
        for start in stride(from: 0, to: rows.count, by: 1000) {
            try await container.database.transaction { transaction in
                for row in rows[start..<min(start + 1000, rows.count)] {
                    container.outbox.enqueue(
                        CaseWorkflow.holdTimer, payload: try row.uuid("id").array,
                        dueAt: try row.timestamp("hold_until"),
                        in: transaction)
                }
            }
        }
    }

    private static let far = "timestamptz '2100-01-01 00:00:00Z'"

    @Test("holds that end together are over soon", .timed)
    func manyHolds() async throws {
        let count = Rounds.count(1000, prove: 100_000)
        try await RecoveryStage.run(replicas: 2) { recovery in
            try await recovery.stage.containers[0].database.waitUntilAvailable()
            // All at one moment; in `make prove` each at one of its own within a minute.
            try await make(count, endingWithin: count > 1000 ? 60 : 0, recovery)
            try await recovery.stage.rows(
                """
                BEGIN;
                UPDATE cases SET hold_until = hold_until - (\(Self.far) - now());
                UPDATE outbox SET due_at = due_at - (\(Self.far) - now());
                COMMIT
                """)
            // A look reads every case before the first that is held, and takes from PostgreSQL what the holds need: not often.
            let isAnyHeld = "SELECT EXISTS (SELECT FROM cases WHERE status = 'held')"
            let isOver = try await eventually(within: .seconds(300)) {
                try await Loop.sleep(for: .milliseconds(count > 1000 ? 1000 : 100))
                return try await recovery.stage.rows(isAnyHeld) == "f"
            }
            try #require(isOver)
            let ends = "SELECT count(*) FROM audit WHERE act = 'hold_ended'"
            #expect(try await recovery.stage.rows(ends) == "\(count)")
            let lateness = """
                SELECT min(a.at - c.hold_until) >= interval '0 s', max(a.at - c.hold_until) < interval '30 s',
                    round(extract(epoch FROM max(a.at - c.hold_until)), 2)
                FROM audit a JOIN cases c ON a.chain = 'case ' || c.id WHERE a.act = 'hold_ended'
                """
            let found = try await recovery.stage.rows(lateness).split(separator: "|")
            #expect(found[0] == "t", "none is early")
            #expect(found[1] == "t", .time("the last is late by \(found[2]) s"))
            print("\(count) holds over, the last late by \(found[2]) s")
        }
    }
}
