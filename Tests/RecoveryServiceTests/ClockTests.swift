import BusProtocol
import BusRuntime
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import RecoveryService

/// The database's clock is PostgreSQL's own, moved by the test: what the service reads of the time, it reads from there.
@Suite("a hold and the clocks") struct ClockTests {
    /// The service anew, on tables whose clock the test moves.
    ///
    /// - Parameter hidden: what the outbox asks for the time by is not moved.
    @Loop private func prepare(_ recovery: RecoveryStage, hidden: Bool = false) async throws {
        try await recovery.stage.rows(
            """
            CREATE TABLE public.clock_shift (by interval NOT NULL);
            INSERT INTO public.clock_shift VALUES ('0');
            CREATE FUNCTION public.true_clock() RETURNS timestamptz LANGUAGE internal VOLATILE STRICT AS 'clock_timestamp';
            CREATE FUNCTION public.shifted_clock() RETURNS timestamptz LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS
                'BEGIN RETURN public.true_clock() + (SELECT CASE WHEN \(hidden) AND current_query() LIKE
                    ''SELECT clock\\_timestamp() AS now%'' THEN ''0'' ELSE by END FROM public.clock_shift); END';
            CREATE OR REPLACE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
                'SELECT public.shifted_clock()';
            CREATE OR REPLACE FUNCTION pg_catalog.statement_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
                'SELECT public.shifted_clock()'
            """)
        try await restart(recovery)
    }

    @Loop private func restart(_ recovery: RecoveryStage) async throws {
        try await recovery.stage.replaceReplicas(without: [])
    }

    @Loop private func move(_ interval: String, _ recovery: RecoveryStage) async throws {
        try await recovery.stage.rows("UPDATE public.clock_shift SET by = '\(interval)'")
    }

    @Loop private func alarms(_ recovery: RecoveryStage) -> Int {
        recovery.stage.log.text.components(separatedBy: "clock_jumped").count - 1
    }

    /// A look of the outbox that finds the clocks together.
    @Loop private func untilSeen(_ recovery: RecoveryStage) async throws {
        let sql = "SELECT count(*) > 0 FROM clock_marks"
        try #require(try await eventually(within: .seconds(30)) { try await recovery.stage.rows(sql) == "t" })
    }

    @Test("neither a clock jump nor a later restart ends a hold", arguments: ["73 hours", "-73 hours"])
    func jump(by interval: String) async throws {
        try await RecoveryStage.run { recovery in
            try await prepare(recovery)
            try await untilSeen(recovery)
            let claim = try await recovery.claim()
            let timer = "SELECT count(*) FROM outbox WHERE destination = 'timer:hold-ended' AND attempts = 0"
            let status = "SELECT status FROM cases"
            try await move(interval, recovery)
            for restarts in 0..<2 {
                if restarts > 0 { try await restart(recovery) }
                let known = restarts == 0 ? 0 : 1
                try #require(
                    try await eventually(within: .seconds(30)) {
                        alarms(recovery) > known && !recovery.stage.containers[0].delivery.trustsClock
                    })
                #expect(try await recovery.stage.rows(status) == "held")
                #expect(try await recovery.stage.rows(timer) == "1", "its timer was not taken")
                let evidence = await #expect(throws: BusError.self) { try await recovery.give("yes", for: claim) }
                #expect(evidence?.code == "recovery_not_ready")
                // No new case begins either, since its hold would end too early.
                let begun = await #expect(throws: BusError.self) { try await recovery.claim(claimant: "000002") }
                #expect(begun?.code == "service_unavailable")
                #expect(try await recovery.stage.rows("SELECT count(*) FROM cases") == "1")
            }
            // Everything is as it was once the clock is.
            try await move("0", recovery)
            #expect(try await recovery.look(claim).holdUntil == claim.holdUntil)
            try await recovery.endHolds()
            #expect(try await recovery.stage.rows(status) == "identity_required")
        }
    }

    /// The clock jumps after the outbox looked at it, and before it takes what is due.
    @Test func aClockJumpAfterTheOutboxCheckEndsNoHold() async throws {
        try await RecoveryStage.run { recovery in
            try await prepare(recovery, hidden: true)
            try await untilSeen(recovery)
            _ = try await recovery.claim()
            let timers = "SELECT count(*) FROM outbox WHERE destination = 'timer:hold-ended' AND attempts = 0"
            #expect(try await recovery.stage.rows(timers) == "1")
            try await move("73 hours", recovery)
            // What another claim tells is gone when the outbox was looked through.
            _ = try await recovery.claim(claimant: "000002")
            let untold = "SELECT count(*) FROM outbox WHERE destination NOT LIKE 'timer:%'"
            try #require(try await eventually(within: .seconds(30)) { try await recovery.stage.rows(untold) == "0" })
            #expect(try await recovery.stage.rows("SELECT string_agg(status, ' ') FROM cases") == "held held")
            #expect(try await recovery.stage.rows(timers) == "2", "their timers were not taken")
        }
    }

    /// No clock but the database's is asked when a hold ends.
    @Test func aHoldIsOverByTheDatabasesClockToTheMicrosecond() async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.claim()
            // Fifty milliseconds from now, by the tables' clock.
            try await recovery.stage.rows(
                """
                UPDATE cases SET hold_until = clock_timestamp() + interval '50 ms';
                UPDATE outbox SET due_at = (SELECT hold_until FROM cases) WHERE destination = 'timer:hold-ended'
                """)
            try await recovery.until(claim.recoveryId, is: "identity_required")
            let lateness = """
                SELECT a.at >= c.hold_until FROM audit a JOIN cases c ON a.chain = 'case ' || c.id WHERE a.act = 'hold_ended'
                """
            #expect(try await recovery.stage.rows(lateness) == "t")
        }
    }
}
