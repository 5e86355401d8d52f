import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

@Suite("A lost replica") struct LossTests {
    /// A replica whose calls never end.
    @Loop private func stuck(_ lab: BusLab, at endpoint: String? = nil) throws -> Bus {
        try lab.server(
            at: endpoint,
            handlers: [
                EchoHandler { _, _ in
                    try await Loop.sleep(for: .seconds(60))
                    return ""
                },
                ChargeHandler { _ in
                    try await Loop.sleep(for: .seconds(60))
                    return ""
                },
            ])
    }

    @Test(.timed) func aLostUnkeyedWriteFailsAtOnce() async throws {
        try await BusLab.run { lab in
            let server = try stuck(lab)
            let client = try lab.client()
            let call = Loop.spawn {
                await failure { () throws(BusError) in try await client.call(Charge(), .standard) }
            }
            #expect(try await eventually { server.inFlight == 1 })
            let start = MonotonicClock.now()
            server.stop()
            let error = try await call.value
            #expect(error?.code == "service_unavailable" && error?.executed == .unknown && error?.retryAfterMs == 1000)
            #expect(MonotonicClock.now() - start < 500_000_000, .time("silence need not be waited for"))
            #expect(client.losses == 1)
        }
    }

    @Test func readsAndKeyedWritesAreRetriedAtAnotherReplica() async throws {
        try await BusLab.run { lab in
            let server = try stuck(lab)
            let client = try lab.client()
            let read = Loop.spawn { try await client.call(Echo(text: "again"), .standard) }
            let keyed = Loop.spawn { try await client.call(Charge(), .within(.seconds(30), key: "key-1")) }
            #expect(try await eventually { server.inFlight == 2 })
            server.stop()
            _ = try lab.server(handlers: [EchoHandler(), ChargeHandler { $0.idempotencyKey ?? "" }])
            #expect(try await read.value.text == "again")
            #expect(try await keyed.value.text == "key-1")
            #expect(client.retries >= 2)
        }
    }

    @Test func aNewProcessAtTheSameAddressIsGreetedAgain() async throws {
        try await BusLab.run { lab in
            let first = try lab.server(at: "tcp://127.0.0.1:*")
            let endpoint = try #require(first.endpoint)
            let client = try lab.client(of: .endpoints([endpoint]))
            #expect(try await client.call(Echo(text: "a"), .standard).text == "a")
            first.stop()
            #expect(try await eventually { !client.hasReadyReplica(of: .auth) })
            let second = try lab.server(at: endpoint)
            #expect(try await client.call(Echo(text: "b"), .standard).text == "b")
            #expect(client.replicas(of: .auth).first?.instance == second.configuration.instance)
        }
    }

    /// Drains one of two replicas under load.
    @Test(.timed) func thatDrainsFailsNoCall() async throws {
        try await BusLab.run { lab in
            let leaving = try lab.server(handlers: [slow])
            _ = try lab.server(handlers: [slow])
            let client = try lab.client()
            #expect(try await eventually { client.replicas(of: .auth).filter { $0.state == .ready }.count == 2 })
            let calls = (0..<8).map { _ in Loop.spawn { try await ask(client) } }
            #expect(try await eventually { leaving.inFlight > 0 })
            let start = MonotonicClock.now()
            await leaving.drain(notice: .milliseconds(300))
            #expect(Duration.nanoseconds(MonotonicClock.now() - start) < .seconds(2), .time)
            for call in calls { #expect(try await call.value > 0) }
            #expect(try await eventually { client.replicas(of: .auth).count == 1 })
        }
    }

    @Test func thatDrainsFinishesItsRequestsInFlight() async throws {
        try await BusLab.run { lab in
            let promise = LoopPromise<Void>()
            let server = try lab.server(handlers: [
                EchoHandler { request, _ in
                    try await promise.get()
                    return request.text
                }
            ])
            let client = try lab.client { $0.grace = .milliseconds(100) }
            #expect(try await eventually { client.hasReadyReplica(of: .auth) })
            let call = Loop.spawn { try await client.call(Echo(text: "in hand"), .standard) }
            #expect(try await eventually { server.inFlight == 1 })
            let drain = Loop.spawn { await server.drain(notice: .milliseconds(50)) }
            #expect(try await eventually { !client.hasReadyReplica(of: .auth) })
            let late = await failure { () throws(BusError) in try await client.call(Echo(text: "late"), .standard) }
            #expect(late?.code == "service_unavailable" && late?.executed == .no)
            promise.resolve(.success(()))
            #expect(try await call.value.text == "in hand")
            try await drain.value
        }
    }

    /// During a drain, a relay must still be able to deliver its current events.
    @Test func thatDrainsStillAsksWhileItFinishes() async throws {
        try await BusLab.run { lab in
            _ = try lab.server(handlers: [slow])
            let (client, told) = (try lab.client(), LoopPromise<String>())
            #expect(try await eventually { client.hasReadyReplica(of: .auth) })
            await client.drain(notice: .zero) {
                told.resolve(.success((try? await client.call(Echo(text: "in hand"), .standard))?.text ?? "closed"))
            }
            #expect(try await told.get() == "in hand")
            let late = await failure { () throws(BusError) in try await client.call(Echo(text: "late"), .standard) }
            #expect(late != nil)
        }
    }

    private var slow: EchoHandler {
        EchoHandler { request, _ in
            try await Loop.sleep(for: .milliseconds(5))
            return request.text
        }
    }

    @Loop private func ask(_ client: Bus) async throws -> Int {
        var asked = 0
        let end = MonotonicClock.now() + 600_000_000
        while MonotonicClock.now() < end {
            _ = try await client.call(Echo(text: "a"), .standard)
            asked += 1
        }
        return asked
    }
}
