import BusProtocol
import EventLoop
import TestSupport
import Testing

@testable import BusRuntime

@Suite("Overload") struct OverloadTests {
    /// A controller with times in milliseconds.
    private struct Queue {
        var controller = AdmissionController()

        mutating func begins(after wait: UInt64, behind ahead: Int, at now: UInt64) -> Bool {
            controller.begins(after: wait * 1_000_000, behind: ahead, at: now * 1_000_000)
        }
        mutating func admits(behind ahead: Int, at now: UInt64) -> Bool {
            controller.admits(behind: ahead, at: now * 1_000_000)
        }
        func isOverloaded(at now: UInt64) -> Bool { controller.isOverloaded(at: now * 1_000_000) }
    }

    @Test func aBurstThatIsWorkedOffIsNoOverload() {
        var queue = Queue()
        let begun = (0..<90).map { queue.begins(after: UInt64($0), behind: $0, at: 1000 + UInt64($0)) }
        let admitted = queue.admits(behind: 1000, at: 1090)
        #expect(begun.allSatisfy { $0 } && admitted && !queue.isOverloaded(at: 1090))
    }

    @Test func aQueueThatStaysLongForAnIntervalIsShortened() {
        var queue = Queue()
        let begun = (0...100).map { queue.begins(after: 30, behind: 30, at: 1000 + UInt64($0)) }
        #expect(begun.allSatisfy { $0 } && queue.isOverloaded(at: 1100))
        // Each request takes a millisecond, so twenty may wait. One that has waited twice as long is always refused.
        let admitted = [20, 22].map { queue.admits(behind: $0, at: 1150) }
        #expect(admitted == [true, false])
        let later = [(18, 1151), (41, 1152)].map { queue.begins(after: $0, behind: Int($0), at: $1) }
        #expect(later == [true, false])
        // An interval without a refusal ends the overload.
        #expect(queue.isOverloaded(at: 1251) && !queue.isOverloaded(at: 1252))
        let afterwards = queue.admits(behind: 1000, at: 1252)
        #expect(afterwards)
    }

    @Test func oneLongWaitInThePastIsNoOverload() {
        var queue = Queue()
        let begun = [(300, 1000), (1, 9000), (50, 9001)].map { queue.begins(after: $0, behind: 0, at: $1) }
        #expect(begun.allSatisfy { $0 } && !queue.isOverloaded(at: 9001))
    }

    /// Two callers send five times what one replica can do. In one case the handlers block its loop. In the other they
    /// only wait, and the credit limits how many run at once.
    @Test(.timed, arguments: [(TestWork(id: 0, burnMs: 5), 64, 200.0), (TestWork(id: 0, waitMs: 40), 8, 400.0)])
    func overloadIsShedEarlyAndEndsSoon(work: TestWork, credit: Int, capacity: Double) async throws {
        try await BusLab.run { lab in
            let replica = try lab.process()
            let clients = try (0..<2).map { _ in try lab.client { $0.credit = credit } }
            #expect(try await eventually { clients.allSatisfy { $0.hasReadyReplica(of: .auth) } })
            let loads = clients.map { Load(on: $0, work, timeout: .seconds(2)) }
            let started = MonotonicClock.now()
            let runs = loads.map { load in
                Loop.spawn { try await load.run(perSecond: capacity * 5 / 2, for: .seconds(2)) }
            }
            for run in runs { try await run.value }
            for load in loads { try await load.finish() }
            let taken = Double(MonotonicClock.now() - started) / 1e9
            let outcomes = loads.flatMap(\.outcomes)
            let (good, refused) = (outcomes.answered, outcomes.failed)
            let later = good.filter { $0.asked > started + 300_000_000 }
            let report = """
                goodput \(Double(good.count) / taken) of \(capacity)/s; \(refused.count) refused, p50 \(refused.took(0.5)) p99 \(refused.took(0.99)); \
                answered p50 \(good.took(0.5)) p99 \(good.took(0.99)), once it was noticed p99 \(later.took(0.99))
                """
            print(report)
            #expect(Double(good.count) / taken >= 0.85 * capacity, .time(report))
            #expect(refused.allSatisfy { $0.error?.code == "overloaded" && $0.error?.executed == .no }, .time(report))
            #expect(refused.took(0.5) <= .milliseconds(10), .time(report))
            // The replica has begun more if it stood still and was considered lost.
            #expect(replica.begun.count == good.count, .time(report))

            let after = Load(on: clients[0], work, timeout: .seconds(2))
            try await after.run(perSecond: capacity / 8, for: .seconds(1))
            try await after.finish()
            #expect(after.outcomes.failed.isEmpty, .time)
        }
    }
}
