import BusProtocol
import EventLoop
import TestSupport
import Testing

@testable import BusRuntime

@Suite("Retries") struct RetryTests {
    @Test func retriesAreATenthOfCallsPlusTwoReplicasInFlight() {
        var budget = RetryBudget()
        func spendAll(at now: UInt64) -> Int {
            var spent = 0
            while budget.spend(at: now) { spent += 1 }
            return spent
        }
        let second: UInt64 = 1_000_000_000
        #expect(spendAll(at: second) == 128)
        for _ in 0..<1005 { budget.earn() }
        #expect(spendAll(at: second) == 100)
        #expect(spendAll(at: 3 * second) == 20)
        // The budget never exceeds its initial size, however long no retry was made.
        #expect(spendAll(at: 3600 * second) == 128)
    }

    @Test func pauseForARandomTimeThatDoubles() {
        var generator = SystemRandomNumberGenerator()
        for (attempt, most) in [(1, 50), (2, 100), (3, 200), (6, 1000), (255, 1000)] as [(UInt8, Int)] {
            let pauses = (0..<1000).map { _ in RetryPause.pause(after: attempt, using: &generator) }
            #expect(pauses.allSatisfy { (.zero...(.milliseconds(most))).contains($0) })
            #expect(
                pauses.contains { $0 < .milliseconds(most) / 10 } && pauses.contains { $0 > .milliseconds(most) * 0.9 })
        }
    }

    /// Every replica refuses. Without a budget, each call would be made three times.
    @Test func areNotMadeWithoutABudgetAndEndWithTheRefusalItself() async throws {
        try await BusLab.run { lab in
            var asked = 0
            let servers = try (0..<3).map { _ in
                try lab.server(handlers: [
                    EchoHandler { _, _ in
                        asked += 1
                        throw BusError(.overloaded, "No more of these.", retryAfter: .seconds(7))
                    }
                ])
            }
            let client = try lab.client()
            #expect(try await eventually { client.replicas(of: .auth).count { $0.state == .ready } == 3 })
            for _ in 0..<400 {
                let error = await failure { () throws(BusError) in try await client.call(Echo(text: "a"), .standard) }
                #expect(error?.detail == "No more of these." && error?.retryAfterMs == 7000 && error?.executed == .no)
            }
            // A replica that stood still refuses a request before its handler runs.
            let unheard = servers.reduce(0) { $0 + ($1.ended("auth.echo/v1")["service_unavailable"] ?? 0) }
            // The budget is 128 at first, plus a tenth of the 400 calls, plus ten for each second of the test.
            #expect((168...250).contains(client.retries - unheard) && asked + unheard == 400 + client.retries)
        }
    }

    /// The caller still waits, and the only replica has continued in the meantime.
    @Test func anExpiredRequestIsRetriedAtTheOnlyReplica() async throws {
        try await BusLab.run { lab in
            var asked = 0
            _ = try lab.server(handlers: [
                EchoHandler { request, _ in
                    asked += 1
                    if asked == 1 { throw BusError(.deadlineExceeded, "It lay for too long.") }
                    if request.text == "full" { throw BusError(.overloaded, "No more of these.") }
                    return request.text
                }
            ])
            let client = try lab.client()
            #expect(try await client.call(Echo(text: "a"), .standard).text == "a")
            #expect(asked == 2 && client.retries == 1)
            // An overloaded replica is not asked again.
            let error = await failure { () throws(BusError) in try await client.call(Echo(text: "full"), .standard) }
            #expect(error?.code == "overloaded" && asked == 3)
        }
    }

    @Test func goToEachReplicaOnce() async throws {
        try await BusLab.run { lab in
            var asked: [Int] = []
            for index in 0..<4 {
                _ = try lab.server(handlers: [
                    EchoHandler { _, _ in
                        asked.append(index)
                        throw BusError(.overloaded, "No more of these.")
                    }
                ])
            }
            let client = try lab.client()
            #expect(try await eventually { client.replicas(of: .auth).count { $0.state == .ready } == 4 })
            _ = await failure { () throws(BusError) in try await client.call(Echo(text: "a"), .standard) }
            #expect(asked.count == 3 && Set(asked).count == 3)
        }
    }
}
