import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

@testable import RecoveryService

@Suite("recovery with many cases", .serialized) struct MeasureTests {
    /// Cases whose holds end at this moment, each with its timer.
    @Loop private func makeDue(_ count: Int, _ recovery: RecoveryStage) async throws {
        try await recovery.stage.rows(
            """
            INSERT INTO cases (id, account_id, account_reference, claimant_reference, is_decoy, status, hold_until, told)
            SELECT gen_random_uuid(), gen_random_uuid(), 'a' || n, 'c' || n, false, 'held', now(), 1
            FROM generate_series(1, \(count)) AS n
            """)
        let database = recovery.stage.houses[0].database
        let ids = try await database.read("SELECT id FROM cases").map { try $0.uuid("id") }
        let due = try await database.read("SELECT clock_timestamp() + interval '1 hour' AS at").first?.timestamp("at")
        for start in stride(from: 0, to: ids.count, by: 1000) {
            try await database.transaction { transaction in
                for id in ids[start..<min(start + 1000, ids.count)] {
                    recovery.stage.houses[0].outbox.enqueue(
                        CaseStore.holdTimer, payload: id.array, dueAt: due, in: transaction)
                }
            }
        }
    }

    @Test("holds that end together are over soon", .timed)
    func manyHolds() async throws {
        let count = Rounds.count(1000, prove: 100_000)
        try await RecoveryStage.run(replicas: 2) { recovery in
            try await recovery.stage.houses[0].database.waitUntilAvailable()
            try await makeDue(count, recovery)
            let start = ContinuousClock.now
            try await recovery.stage.rows(
                "UPDATE outbox SET due_at = now() + random() * interval '\(count > 1000 ? 60 : 0) s'")
            let held = "SELECT count(*) FROM cases WHERE status = 'held'"
            while try await recovery.stage.rows(held) != "0" { try await Loop.sleep(for: .milliseconds(100)) }
            let time = ContinuousClock.now - start
            #expect(try await recovery.stage.rows("SELECT count(*) FROM audit WHERE act = 'hold_ended'") == "\(count)")
            print("\(count) holds over after \(time)")
            #expect(time < .seconds(count > 1000 ? 90 : 30), .time)
        }
    }

    @Test("the queue and a page are quick among many cases", .timed)
    func manyCases() async throws {
        let count = Rounds.count(20_000, prove: 1_000_000)
        try await RecoveryStage.run { recovery in
            try await recovery.stage.rows(
                """
                INSERT INTO cases (id, account_id, account_reference, claimant_reference, is_decoy, status, hold_until,
                    told, evidence_at, verdict, closed_at, seen_closed_at)
                SELECT gen_random_uuid(), gen_random_uuid(), 'a' || n, 'c' || n, false, s.status,
                    now() - n * interval '1 s', 1, now() - n * interval '1 s', 'yes', s.over, s.over
                FROM generate_series(1, \(count)) AS n CROSS JOIN LATERAL (
                    SELECT CASE WHEN n % 20 = 0 THEN 'in_review' WHEN n % 3 = 0 THEN 'disputed' ELSE 'completed' END AS status,
                        CASE WHEN n % 20 = 0 THEN NULL ELSE now() END AS over) AS s;
                ANALYZE cases;
                """)
            let queue = try await recovery.ask(ListReviews(), as: recovery.staff).cases
            #expect(queue.count == 100)
            var times: [String: [Duration]] = [:]
            for round in 0..<200 {
                let start = ContinuousClock.now
                _ = try await recovery.ask(ListReviews(), as: recovery.staff)
                let middle = ContinuousClock.now
                _ = try await recovery.page(of: queue[round % 100].recoveryId)
                times["queue", default: []].append(middle - start)
                times["page", default: []].append(ContinuousClock.now - middle)
            }
            for (what, times) in times {
                let p99 = times.sorted()[times.count * 99 / 100]
                print("\(what) among \(count): p99 \(p99)")
                #expect(p99 < .milliseconds(20), .time("\(what): \(p99)"))
            }
        }
    }
}
