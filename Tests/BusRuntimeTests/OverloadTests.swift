import BusProtocol
import EventLoop
import TestSupport
import Testing

@testable import BusRuntime

@Suite("Overload") struct OverloadTests {
    /// A controller, with times in milliseconds.
    private struct Queue {
        var controller = AdmissionController()

        mutating func begins(after wait: UInt64, behind ahead: Int, at now: UInt64) -> Bool {
            controller.begins(after: wait * 1_000_000, behind: ahead, at: now * 1_000_000)
        }
    }

    @Test func aBurstThatIsWorkedOffIsNone() {
        var queue = Queue()
        let begun = (0..<90).map { queue.begins(after: UInt64($0), behind: $0, at: 1000 + UInt64($0)) }
        #expect(begun.allSatisfy { $0 })
        #expect(!queue.controller.isOverloaded && queue.controller.admits(behind: 1000))
    }

    @Test func aQueueThatStandsForAnIntervalIsShortened() {
        var queue = Queue()
        let begun = (0...100).map { queue.begins(after: 30, behind: 30, at: 1000 + UInt64($0)) }
        #expect(begun.allSatisfy { $0 } && queue.controller.isOverloaded)
        // A millisecond each: twenty may wait, and what waited twice as long is refused all the same.
        #expect(queue.controller.admits(behind: 20) && !queue.controller.admits(behind: 22))
        let waits = [41, 18, 4].map { queue.begins(after: $0, behind: Int($0), at: 1101) }
        #expect(waits == [false, true, true])
        #expect(!queue.controller.isOverloaded)
    }

    @Test func oneLongWaitLongAgoIsNone() {
        var queue = Queue()
        let begun = [(300, 1000), (1, 9000), (50, 9001)].map { queue.begins(after: $0, behind: 0, at: $1) }
        #expect(begun.allSatisfy { $0 } && !queue.controller.isOverloaded)
    }

    /// Five times what one replica can do, asked by four callers: once by handlers that hold its loop, once by handlers
    /// that wait for somebody else, where the credit is what a replica can do at once.
    @Test(arguments: [(Labour(id: 0, burnMs: 5), 64, 200.0), (Labour(id: 0, waitMs: 20), 2, 400.0)])
    func isShedEarlyAndOverSoon(labour: Labour, credit: Int, capacity: Double) async throws {
        try await BusLab.run { lab in
            let replica = try lab.process()
            let clients = try (0..<4).map { _ in try lab.client { $0.credit = credit } }
            #expect(try await comes { clients.allSatisfy { $0.hasReadyReplica(of: .auth) } })
            let loads = clients.map { Load(on: $0, labour, timeout: .seconds(2)) }
            let started = MonotonicClock.now()
            let runs = loads.map { load in
                Loop.spawn { try await load.run(perSecond: capacity * 5 / 4, for: .seconds(2)) }
            }
            for run in runs { try await run.value }
            for load in loads { try await load.finish() }
            let taken = Double(MonotonicClock.now() - started) / 1e9
            let outcomes = loads.flatMap(\.outcomes)
            let (good, refused) = (outcomes.answered, outcomes.failed)
            let later = good.filter { $0.asked > started + 300_000_000 }
            let report = """
                goodput \(Double(good.count) / taken) of \(capacity)/s; \(refused.count) refused, p50 \(refused.took(0.5)); \
                answered p50 \(good.took(0.5)) p99 \(good.took(0.99)), once it was noticed p99 \(later.took(0.99))
                """
            print(report)
            #expect(Double(good.count) / taken >= 0.85 * capacity, "\(report)")
            #expect(refused.allSatisfy { $0.error?.code == "overloaded" && $0.error?.executed == .no }, "\(report)")
            #expect(refused.took(0.5) <= .milliseconds(10), "\(report)")
            #expect(replica.begun.count == good.count)

            let after = Load(on: clients[0], labour, timeout: .seconds(2))
            try await after.run(perSecond: capacity / 8, for: .seconds(1))
            try await after.finish()
            #expect(after.outcomes.failed.isEmpty)
        }
    }
}
