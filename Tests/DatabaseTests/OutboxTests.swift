import BusProtocol
import Cryptography
import EventLoop
import JSONText
import ServiceRuntime
import TestSupport
import Testing

@testable import Database

@Suite("outbox") @Loop struct OutboxTests {
    @Loop final class ServiceParts {
        let scratch: ScratchDatabase
        let database: Database
        let outbox: Outbox
        private var relays: [OutboxRelay] = []
        private var delivered: [(person: Identifier, sequence: Int64)] = []
        private var timers = 0
        private var waiting: (count: Int, promise: LoopPromise<Void>)?
        var failures = 0
        /// The person whose events fail.
        var refused: Identifier?
        private(set) var refusals = 0

        init(_ scratch: ScratchDatabase, connections: Int = 8) throws {
            self.scratch = scratch
            database = Database(scratch.configuration(poolSize: connections))
            outbox = Outbox(database: database, keys: try KeyRing(contents: KeyRing.generate(id: "k")))
            database.start()
        }

        func publishEvent(_ person: Identifier) async throws {
            try await database.transaction { transaction in
                let event = AccountCreated(personID: person, createdAt: Timestamp(microsecondsSinceEpoch: 0))
                try await self.outbox.publish(event, in: transaction)
            }
        }

        func startRelay() {
            let relay = OutboxRelay(outbox) { [unowned self] in try take($0) }
            relays.append(relay)
            Loop.spawn { await relay.run() }
        }

        private func take(_ item: OutboxItem) throws {
            if failures > 0 {
                failures -= 1
                throw BusError(.serviceUnavailable, "Not now.")
            }
            if item.destination == "profile" {
                let event = try WireJSON.decode(AccountCreated.self, from: item.payload)
                guard event.personID != refused else {
                    refusals += 1
                    throw BusError(.notImplemented, "Never.")
                }
                delivered.append((event.personID, event.personSequence))
            } else {
                timers += 1
            }
            if let waiting, delivered.count + timers >= waiting.count { waiting.promise.resolve(.success(())) }
        }

        func delivered(_ count: Int) async throws -> [(person: Identifier, sequence: Int64)] {
            if delivered.count + timers < count {
                let promise = LoopPromise<Void>()
                waiting = (count, promise)
                try await promise.get()
            }
            return delivered
        }

        var timersFired: Int { timers }

        func stop() async {
            for relay in relays { await relay.stop() }
            database.close()
        }
    }

    private func parts() async throws -> ServiceParts {
        let parts = try ServiceParts(try await ScratchDatabase.make(schema: "shop"))
        try await parts.database.waitUntilAvailable()
        return parts
    }

    @Test func threeRelaysKeepTheOrderOfEachPerson() async throws {
        let parts = try await parts()
        let people = (0..<5).map { _ in Identifier.random() }
        for _ in 0..<3 { parts.startRelay() }
        for _ in 0..<20 { for person in people { try await parts.publishEvent(person) } }
        let delivered = try await parts.delivered(100)
        for person in people {
            #expect(delivered.filter { $0.person == person }.map(\.sequence) == Array(1...20))
        }
        await parts.stop()
    }

    @Test func aPublisherMayAwaitTheDeliveryOfItsEvent() async throws {
        let parts = try await parts()
        parts.startRelay()
        let person = Identifier.random()
        let event = AccountCreated(personID: person, createdAt: Timestamp(microsecondsSinceEpoch: 0))
        func publishEvent(atMost limit: Duration) async throws -> Duration {
            let began = ContinuousClock().now
            try await parts.outbox.awaitingDelivery(atMost: limit) { watch in
                try await parts.database.transaction { transaction in
                    try await parts.outbox.publish(event, watch: watch, in: transaction)
                }
            }
            return ContinuousClock().now - began
        }
        _ = try await publishEvent(atMost: .seconds(10))
        #expect(try await parts.delivered(0).map(\.sequence) == [1])
        // What fails is tried again later, and nobody waits for that.
        parts.refused = person
        #expect(try await publishEvent(atMost: .seconds(10)) < .seconds(5) && parts.refusals == 1)
        #expect(parts.outbox.watches.isEmpty)
        await parts.stop()
        #expect(try await parts.outbox.awaitingDelivery(atMost: .zero) { _ in 7 } == 7, "it told nothing")
    }

    @Test func eventsOfACrashedRelayAreTakenAfterItsLease() async throws {
        let parts = try await parts()
        let person = Identifier.random()
        for _ in 0..<2 { try await parts.publishEvent(person) }
        try await parts.scratch.query(
            "UPDATE outbox SET attempts = 1, locked_until = now() + interval '300 ms' WHERE person_sequence = 1")
        parts.startRelay()
        #expect(try await parts.delivered(2).map(\.sequence) == [1, 2])
        await parts.stop()
    }

    /// A queue is nearly empty most of the time, and PostgreSQL keeps a plan that it made for the empty queue.
    @Test func aRelayTakesNoMoreThanItsRoomUnderAnyQueryPlan() async throws {
        let scratch = try await ScratchDatabase.make(schema: "shop")
        try await scratch.query(
            """
            ANALYZE outbox;
            DO $$ BEGIN
                EXECUTE format('ALTER DATABASE %I SET plan_cache_mode = force_generic_plan', current_database());
            END $$
            """)
        // The pool has one connection, so that every statement runs on the one that has the plan.
        let parts = try ServiceParts(scratch, connections: 1)
        let gate = LoopPromise<Void>()
        var inHand = 0
        let relay = OutboxRelay(parts.outbox) { item in
            guard item.destination == "sms" else { return }
            inHand += 1
            try await gate.get()
        }
        Loop.spawn { await relay.run() }
        try await parts.database.waitUntilAvailable()
        try await parts.database.transaction { parts.outbox.enqueue("push", payload: [1], in: $0) }
        try #require(
            try await eventually { try await scratch.query("SELECT count(*) FROM outbox") == "0" },
            "the relay has taken from the queue, which was empty when it was analyzed")
        try await parts.database.transaction { transaction in
            for _ in 0..<100 { parts.outbox.enqueue("sms", payload: [1], in: transaction) }
        }
        try #require(try await eventually { inHand >= 32 })
        #expect(try await parts.scratch.query("SELECT count(*) FROM outbox WHERE locked_until IS NOT NULL") == "32")
        gate.resolve(.success(()))
        try #require(try await eventually { inHand == 100 })
        await relay.stop()
        #expect(try await parts.scratch.query("SELECT count(*) FROM outbox") == "0")
        await parts.stop()
    }

    /// A hundred thousand holds may end within a minute, so a look must not read all that is due. PostgreSQL plans the
    /// first five executions on a connection for their values, and later ones for any values.
    @Test(arguments: [true, false], ["force_generic_plan", "force_custom_plan"])
    func manyThatAreDueAreReadInOrder(isAnalyzed: Bool, mode: String) async throws {
        let scratch = try await ScratchDatabase.make(schema: "shop")
        try await scratch.query(
            """
            INSERT INTO outbox (id, destination, payload, due_at)
            SELECT gen_random_uuid(), 'timer:hold-ended', '', '2100-01-01'::timestamptz + random() * interval '1 min'
            FROM generate_series(1, 20000);
            \(isAnalyzed ? "ANALYZE outbox" : "");
            UPDATE outbox SET due_at = due_at - ('2100-01-02' - now())
            """)
        let plan = try await scratch.query(
            """
            SET enable_seqscan = off;
            SET plan_cache_mode = \(mode);
            PREPARE claim (bigint, timestamptz, uuid[], text[], boolean) AS \(OutboxRelay.claim.sql);
            EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) EXECUTE claim (32, now(), '{}', '{sms,profile}', false)
            """)
        #expect(plan.contains("Index Scan using outbox_due_at on outbox o_1 (actual rows=32"), "\(plan)")
        #expect(!plan.contains("Sort"), "\(plan)")
    }

    @Test func aRolledBackEventIsNotDelivered() async throws {
        let parts = try await parts()
        let person = Identifier.random()
        await #expect(throws: CancellationError.self) {
            try await parts.database.transaction { transaction in
                try await parts.outbox.publish(AccountCreated(personID: person, createdAt: .now()), in: transaction)
                throw CancellationError()
            }
        }
        try await parts.publishEvent(person)
        parts.startRelay()
        #expect(try await parts.delivered(1).map(\.sequence) == [1])
        await parts.stop()
    }

    @Test func aFailedDeliveryIsTriedAgain() async throws {
        let parts = try await parts()
        parts.failures = 2
        parts.startRelay()
        let person = Identifier.random()
        for _ in 0..<2 { try await parts.publishEvent(person) }
        #expect(try await parts.delivered(2).map(\.sequence) == [1, 2])
        await parts.stop()
    }

    @Test func anEventThatFailsTenTimesIsDeadAndHoldsItsQueue() async throws {
        let parts = try await parts()
        let person = Identifier.random()
        for _ in 0..<2 { try await parts.publishEvent(person) }
        let alarm = LoopPromise<OutboxAlarm>()
        let relay = OutboxRelay(parts.outbox) { _ in throw CancellationError() }
        relay.onAlarm = { alarm.resolve(.success($0)) }
        var told: [String] = []
        relay.onFailure = { told.append("\($0) \($1) \($2)") }
        try await parts.scratch.query("UPDATE outbox SET attempts = 9")
        Loop.spawn { await relay.run() }
        guard case .deadLetter("profile", _) = try await alarm.get() else {
            Issue.record("expected a dead letter")
            return
        }
        await relay.stop()
        #expect(told == ["profile 10 CancellationError"])
        #expect(
            try await parts.scratch.query(
                "SELECT string_agg((dead_at IS NOT NULL)::text, ',' ORDER BY person_sequence) FROM outbox")
                == "true,false")
        await parts.stop()
    }

    /// However long a service is absent, its events lose no attempts and delay no items for others.
    @Test func eventsForAnAbsentServiceWaitUntriedAndTakeNoRoom() async throws {
        let parts = try await parts()
        for _ in 0..<40 { try await parts.publishEvent(.random()) }
        try await parts.database.transaction { parts.outbox.enqueue("sms", payload: [1], in: $0) }
        var delivered: [String] = []
        let relay = OutboxRelay(parts.outbox) { delivered.append($0.destination) }
        relay.absent = { ["profile"] }
        Loop.spawn { await relay.run() }
        try #require(try await eventually { delivered == ["sms"] })
        #expect(
            try await parts.scratch.query("SELECT max(attempts), count(*) FROM outbox WHERE destination = 'profile'")
                == "0|40")
        relay.absent = { [] }
        #expect(try await eventually { delivered.count == 41 })
        await relay.stop()
        await parts.stop()
    }

    /// Two releases run side by side while replicas are replaced. What it fails with afterwards counts from then on.
    @Test func anEventUnknownToThisReleaseIsNotGivenUp() async throws {
        let parts = try await parts()
        try await parts.publishEvent(.random())
        try await parts.scratch.query("UPDATE outbox SET attempts = 9")
        func waits(_ state: String) async throws -> Bool {
            try await eventually {
                try await parts.scratch.query(
                    "SELECT attempts, dead_at IS NULL, locked_until IS NULL, last_error FROM outbox")
                    == state
            }
        }
        let former = OutboxRelay(parts.outbox) { _ in throw BusError(.unknownMessage, "Not known here.") }
        Loop.spawn { await former.run() }
        for attempts in 10...12 {
            try #require(try await waits("\(attempts)|t|t|unknown_message"))
            try await parts.scratch.query("UPDATE outbox SET due_at = now()")
        }
        try #require(try await waits("13|t|t|unknown_message"))
        await former.stop()

        let newer = OutboxRelay(parts.outbox) { _ in throw DeliveryPostponed(pause: .seconds(3600), code: "later") }
        Loop.spawn { await newer.run() }
        try await parts.scratch.query("UPDATE outbox SET due_at = now()")
        try #require(try await waits("1|t|t|later"))
        try await parts.scratch.query("UPDATE outbox SET attempts = 9, due_at = now()")
        try #require(try await waits("10|f|t|later"))
        await newer.stop()
        await parts.stop()
    }

    @Test func anItemThatContinuesKeepsItsRowAndIsNoFailure() async throws {
        let parts = try await parts()
        try await parts.database.transaction { parts.outbox.enqueue("watch", payload: [1], in: $0) }
        try await parts.scratch.query("UPDATE outbox SET attempts = 9, last_error = 'before'")
        let before = try await parts.scratch.query("SELECT id FROM outbox")
        let relay = OutboxRelay(parts.outbox) { _ in throw RedeliverLater(after: .seconds(90)) }
        relay.onFailure = { destination, _, _ in Issue.record("\(destination) has failed") }
        Loop.spawn { await relay.run() }
        let row = """
            SELECT id FROM outbox WHERE attempts = 0 AND dead_at IS NULL AND last_error IS NULL AND locked_until IS NULL
                AND due_at BETWEEN now() + interval '80 s' AND now() + interval '90 s'
            """
        #expect(try await eventually { try await parts.scratch.query(row) == before })
        await relay.stop()
        await parts.stop()
    }

    @Test func anEventTriedUntilTakenNeverBecomesADeadLetter() async throws {
        let parts = try await parts()
        try await parts.database.transaction {
            try await parts.outbox.publish(AccountDeleted(personID: .random(), deletedAt: .now()), in: $0)
        }
        try await parts.scratch.query("UPDATE outbox SET attempts = 400")
        let relay = OutboxRelay(parts.outbox) { _ in throw CancellationError() }
        relay.isNeverGivenUp = { $0 == AccountDeleted.type }
        Loop.spawn { await relay.run() }
        let failed =
            "SELECT count(*), count(dead_at), bool_and(due_at < now() + interval '19 s') FROM outbox WHERE last_error IS NOT NULL"
        let all = "SELECT count(*) FROM outbox"
        #expect(
            try await eventually {
                try await parts.scratch.query(failed) == "\(try await parts.scratch.query(all))|0|t"
            })
        await relay.stop()
        await parts.stop()
    }

    /// A process that stood still for longer than its lease.
    @Test func aLatePostponementDoesNotTouchTheNextLease() async throws {
        let parts = try await parts()
        let (begun, gate) = (LoopPromise<Void>(), LoopPromise<Void>())
        let relay = OutboxRelay(parts.outbox) { _ in
            begun.resolve(.success(()))
            try await gate.get()
            throw CancellationError()
        }
        try await parts.publishEvent(.random())
        Loop.spawn { await relay.run() }
        try await begun.get()
        let another = "UPDATE outbox SET attempts = attempts + 1, locked_until = now() + interval '1 h'"
        try await parts.scratch.query(another)
        gate.resolve(.success(()))
        await relay.stop()
        let held = "SELECT attempts, locked_until > now() + interval '50 min', last_error IS NULL FROM outbox"
        #expect(try await parts.scratch.query(held) == "2|t|t")
        await parts.stop()
    }

    @Test func anUnreadableQueueRaisesOneAlarm() async throws {
        let parts = try await parts()
        var alarms: [OutboxAlarm] = []
        let relay = OutboxRelay(parts.outbox) { _ in }
        relay.onAlarm = { alarms.append($0) }
        try await parts.scratch.query("ALTER TABLE outbox RENAME COLUMN due_at TO due")
        Loop.spawn { await relay.run() }
        try #require(try await eventually { !alarms.isEmpty })
        #expect(alarms == [.blind("internal_error")])
        await relay.stop()
        await parts.stop()
    }

    @Test func aSlowDestinationDelaysNoOtherAndSetsItsOwnPauses() async throws {
        let parts = try await parts()
        let (hung, fast) = (LoopPromise<Void>(), LoopPromise<String>())
        try await parts.database.transaction { transaction in
            // More than a relay has in hand at once.
            for _ in 0..<40 { parts.outbox.enqueue("slow", payload: [1], in: transaction) }
            parts.outbox.enqueue("fast", payload: [1], in: transaction)
        }
        let slow = OutboxRelay(parts.outbox, .only("slow")) { _ in
            try await hung.get()
            throw DeliveryPostponed(pause: .seconds(90), code: "later")
        }
        let others = OutboxRelay(parts.outbox, .allBut(["slow"])) { fast.resolve(.success($0.destination)) }
        for relay in [slow, others] { Loop.spawn { await relay.run() } }
        #expect(try await fast.get() == "fast")
        #expect(try await eventually { try await parts.scratch.query("SELECT sum(attempts) FROM outbox") == "32" })
        hung.resolve(.success(()))
        for relay in [slow, others] { await relay.stop() }
        let postponed = """
            SELECT count(*) >= 32 FROM outbox WHERE last_error = 'later' AND attempts = 1
                AND due_at BETWEEN now() + interval '80 s' AND now() + interval '90 s'
            """
        #expect(try await parts.scratch.query(postponed) == "t")
        await parts.stop()
    }

    @Test func aTimerFiresOnceInTheFleetAndNotBeforeItsTime() async throws {
        let parts = try await parts()
        let now = try await parts.database.read("SELECT clock_timestamp() AS now").first?.timestamp("now")
        let due = try #require(now) + .milliseconds(200)
        try await parts.database.transaction { transaction in
            parts.outbox.enqueue("timer:test", payload: [1], dueAt: due, in: transaction)
        }
        for _ in 0..<3 { parts.startRelay() }
        _ = try await parts.delivered(1)
        let fired = try await parts.database.read("SELECT clock_timestamp() AS now").first?.timestamp("now")
        #expect(try #require(fired) >= due)
        try await Loop.sleep(for: .milliseconds(600))
        #expect(parts.timersFired == 1)
        await parts.stop()
    }

    @Test func aSubscriberTakesEachEventOnce() async throws {
        let parts = try await parts()
        func accept(_ sequence: Int64) async throws -> Bool {
            try await parts.database.transaction { transaction in
                let event = AccountCreated(personID: Self.person, personSequence: sequence, createdAt: .now())
                return try await EventPosition.accept(event, from: .auth, in: transaction)
            }
        }
        #expect(try await accept(1))
        #expect(try await !accept(1))
        #expect(try await accept(3))
        #expect(try await !accept(2))
        await parts.stop()
    }

    private static let person = Identifier.random()
}

@Suite("clock guard") struct ClockGuardTests {
    @Test func aClockJumpHoldsTimersUntilItIsUndone() {
        var guardian = ClockGuard()
        func at(_ database: Int64, _ boot: UInt64) -> Bool {
            guardian.observe(
                database: Timestamp(microsecondsSinceEpoch: database * 1_000_000), boot: boot * 1_000_000_000)
        }
        #expect(at(1000, 10))
        #expect(at(1001, 11))
        #expect(at(1070, 30), "fifty seconds apart is drift")
        #expect(!at(262_000, 31))
        #expect(!at(262_060, 91))
        #expect(at(1140, 100))
    }

    @Test func aNewProcessContinuesFromTheStoredClockOffset() {
        func at(_ database: Int64, _ boot: UInt64, _ guardian: inout ClockGuard) -> Bool {
            guardian.observe(
                database: Timestamp(microsecondsSinceEpoch: database * 1_000_000), boot: boot * 1_000_000_000)
        }
        var first = ClockGuard()
        #expect(!first.isSet && first.offsetToKeep() == nil)
        #expect(at(1000, 10, &first))
        #expect(first.offsetToKeep() == 990_000_000 && first.offsetToKeep() == nil, "once")
        #expect(at(1002, 11, &first))
        #expect(first.offsetToKeep() == 991_000_000)
        #expect(!at(262_000, 12, &first))
        #expect(first.offsetToKeep() == nil, "no jump is written down")
        var second = ClockGuard(offset: 991_000_000)
        #expect(second.isSet && !at(262_001, 13, &second) && second.offsetToKeep() == nil)
        #expect(at(1005, 14, &second))
    }
}
