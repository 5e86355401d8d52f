import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

@Suite("Balancing") struct BalanceTests {
    @Test(.timed) func sharesTheWorkAmongReplicas() async throws {
        try await BusLab.run { lab in
            var shares: [Int: Int] = [:]
            for index in 0..<2 {
                _ = try lab.server(handlers: [
                    EchoHandler { request, _ in
                        shares[index, default: 0] += 1
                        return request.text
                    }
                ])
            }
            let client = try lab.client()
            #expect(try await eventually { client.replicas(of: .auth).filter { $0.state == .ready }.count == 2 })
            let calls = (0..<16).map { _ in Loop.spawn { try await ask(client, times: 125) } }
            for call in calls { try await call.value }
            let (one, other) = (shares[0] ?? 0, shares[1] ?? 0)
            // The sum is larger if a replica stood still and was considered lost, because its calls are repeated.
            #expect(one + other >= 2000)
            #expect(one + other == 2000, .time("\(one) and \(other)"))
            #expect(Double(max(one, other)) / Double(min(one, other)) < 1.25, "\(one) and \(other)")
        }
    }

    @Test(.timed) func neverExceedsTheCreditAndServesInOrder() async throws {
        try await BusLab.run { lab in
            let (promise, most) = (LoopPromise<Void>(), 8)
            var order: [String] = []
            let server = try lab.server(
                { $0.credit = most },
                handlers: [
                    EchoHandler { request, _ in
                        order.append(request.text)
                        try await promise.get()
                        return request.text
                    }
                ])
            let client = try lab.client()
            #expect(try await eventually { client.hasReadyReplica(of: .auth) })
            let calls = (0..<40).map { index in
                Loop.spawn { try await client.call(Echo(text: "\(index)"), .within(.seconds(20))) }
            }
            #expect(try await eventually { server.inFlight == most })
            #expect(client.replicas(of: .auth).map(\.inFlight) == [most])
            promise.resolve(.success(()))
            for call in calls { _ = try await call.value }
            // A replica that stood still refuses the waiting requests, which are then repeated after the others.
            #expect(order == (0..<40).map(String.init), .time)
            #expect(Array(server.ended("auth.echo/v1").keys) == ["ok"], .time)
        }
    }

    @Test(.timed) func asksOnlyReplicasThatAreReady() async throws {
        try await BusLab.run { lab in
            let server = try lab.server()
            server.state = .starting
            let client = try lab.client()
            #expect(try await eventually { client.replicas(of: .auth).contains { $0.isAlive } })
            #expect(!client.hasReadyReplica(of: .auth))
            server.state = .ready
            #expect(try await eventually(within: .milliseconds(200)) { client.hasReadyReplica(of: .auth) }, .time)
        }
    }

    @Test func aProcessOfAnotherServiceGetsNoCalls() async throws {
        try await BusLab.run { lab in
            let other = try lab.server { $0.service = .profile }
            let client = try lab.client(of: .endpoints([try #require(other.endpoint)])) {
                $0.grace = .milliseconds(300)
            }
            let error = await failure { () throws(BusError) in try await client.call(Echo(text: "a"), .standard) }
            #expect(error?.code == "service_unavailable")
            #expect(try await eventually { client.misread > 0 })
        }
    }

    /// A replica that answers PINGs but no requests is ejected.
    @Test(.timed) func aReplicaThatAnswersNoRequestIsPutAside() async throws {
        try await BusLab.run { lab in
            var (stuck, good) = (0, 0)
            _ = try lab.server(handlers: [
                EchoHandler { request, _ in
                    stuck += 1
                    try await Loop.sleep(for: .seconds(60))
                    return request.text
                }
            ])
            _ = try lab.server(handlers: [
                EchoHandler { request, _ in
                    good += 1
                    return request.text
                }
            ])
            let client = try lab.client()
            #expect(try await eventually { client.replicas(of: .auth).filter { $0.state == .ready }.count == 2 })
            while client.report.fates.reduce(0, { $0 + $1.ejected }) == 0 {
                _ = await failure { () throws(BusError) in
                    try await client.call(Echo(text: "a"), .within(.milliseconds(50)))
                }
            }
            #expect(stuck >= 5)
            let before = (stuck, good)
            var failed = 0
            for _ in 0..<50 {
                let error = await failure { () throws(BusError) in try await client.call(Echo(text: "b"), .standard) }
                if error != nil { failed += 1 }
            }
            // The ejection lasts two seconds, and less if a pause of this process leads to a new HELLO.
            #expect(failed == 0 && stuck == before.0 && good == before.1 + 50, .time)
        }
    }
}

@Loop private func ask(_ client: Bus, times: Int) async throws {
    for index in 0..<times { _ = try await client.call(Echo(text: "\(index)"), .standard) }
}
