import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

@Suite("A deadline") struct DeadlineTests {
    @Test(.timed) func endsTheCallAndTheHandler() async throws {
        try await BusLab.run { lab in
            var cancelled = 0
            let server = try lab.server(handlers: [
                EchoHandler { request, _ in
                    do { try await Loop.sleep(for: .seconds(60)) } catch { cancelled += 1 }
                    return request.text
                }
            ])
            let client = try lab.client()
            #expect(try await eventually { client.hasReadyReplica(of: .auth) })
            let start = MonotonicClock.now()
            let error = await failure { () throws(BusError) in
                try await client.call(Echo(text: "a"), .within(.milliseconds(150)))
            }
            let taken = Duration.nanoseconds(MonotonicClock.now() - start)
            #expect(error?.code == "deadline_exceeded" && error?.executed == .unknown)
            #expect(taken >= .milliseconds(145))
            #expect(taken < .milliseconds(600), .time)
            #expect(try await eventually { cancelled == 1 && server.inFlight == 0 })
        }
    }

    /// The server sends the error to a raw peer, although the handler does not end.
    @Test(.timed) func isReportedByTheServerToo() async throws {
        try await BusLab.run { lab in
            let promise = LoopPromise<Void>()
            let server = try lab.server(handlers: [
                EchoHandler { request, _ in
                    try await promise.get()
                    return request.text
                }
            ])
            let peer = RawPeer.caller(of: try #require(server.endpoint))
            try await peer.greet()
            peer.send(.echo(5, budgetMs: 50), Array(#"{"text":"a"}"#.utf8))
            let (header, body) = try #require(try await peer.receive(.error, .reply))
            #expect(header.correlationID == 5 && String(decoding: body, as: UTF8.self).contains("deadline_exceeded"))
            promise.resolve(.success(()))
            #expect(try await eventually { server.inFlight == 0 })
            peer.send(.echo(6, budgetMs: 0), Array(#"{"text":"a"}"#.utf8))
            // The late answer to request 5 is not sent. The next frame is about request 6, which is not executed.
            let (next, refusal) = try #require(try await peer.receive(.error, .reply))
            #expect(next.correlationID == 6 && String(decoding: refusal, as: UTF8.self).contains(#""executed":"no""#))
        }
    }

    /// As after SIGSTOP and SIGCONT, the request was in a buffer for longer than its caller waits.
    @Test func countsTheTimeBeforeTheProcessRead() async throws {
        try await BusLab.run { lab in
            var budgets: [Duration] = []
            let server = try lab.server(handlers: [
                EchoHandler { request, context in
                    budgets.append(context.remaining)
                    return request.text
                }
            ])
            let peer = RawPeer.caller(of: try #require(server.endpoint))
            try await peer.greet()
            peer.send(FrameHeader(kind: .ping))
            // The second request has time left, but its caller has given up this replica.
            for (id, age) in [(1, 3000), (2, 1000), (3, 500)] as [(UInt64, UInt64)] {
                var header = FrameHeader.echo(id, budgetMs: 2000)
                header.sentAtMs = MonotonicClock.now() / 1_000_000 - age
                peer.send(header, Array(#"{"text":"a"}"#.utf8))
                let (answer, body) = try #require(try await peer.receive(.reply, .error))
                #expect(answer.correlationID == id)
                let text = String(decoding: body, as: UTF8.self)
                #expect(text.contains(id < 3 ? #""executed":"no""# : #""text":"a""#))
            }
            #expect(budgets.count == 1 && budgets.allSatisfy { $0 < .milliseconds(1550) })
        }
    }

    @Test func aCancelledCallEndsAtOnce() async throws {
        try await BusLab.run { lab in
            let server = try lab.server(handlers: [
                EchoHandler { request, _ in
                    try await Loop.sleep(for: .seconds(60))
                    return request.text
                }
            ])
            let client = try lab.client()
            let task = Loop.spawn { try await client.call(Echo(text: "a"), .within(.seconds(60))) }
            #expect(try await eventually { server.inFlight == 1 })
            task.cancel()
            await #expect(throws: BusError.self) { try await task.value }
            #expect(try await eventually { server.inFlight == 0 })
            #expect(client.replicas(of: .auth).map(\.inFlight) == [0])
        }
    }

    @Test func aCallerThatStartsFirstWaitsForTheServer() async throws {
        try await BusLab.run { lab in
            let client = try lab.client()
            let early = Loop.spawn { try await client.call(Echo(text: "early"), .standard) }
            try await Loop.sleep(for: .milliseconds(50))
            _ = try lab.server()
            #expect(try await early.value.text == "early")
        }
    }

    @Test func withoutAnyReplicaTheGraceIsShort() async throws {
        try await BusLab.run { lab in
            let client = try lab.client { $0.grace = .milliseconds(100) }
            let error = await failure { () throws(BusError) in
                try await client.call(Echo(text: "a"), .within(.seconds(60)))
            }
            #expect(error?.code == "service_unavailable" && error?.executed == .no && error?.retryAfterMs == 1000)
        }
    }
}
