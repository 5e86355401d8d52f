import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

@Suite("Garbage") struct GarbageTests {
    @Test func isCountedAndNeverStopsTheServer() async throws {
        try await BusLab.run { lab in
            let server = try lab.server()
            let peer = RawPeer.caller(of: try #require(server.endpoint))
            try await peer.greet()
            let good = FrameHeader.echo(1).encoded()
            let messages: [[[UInt8]]] = [
                [[]], [good], [good, [], []], [[], []], [Array("GET / HTTP/1.1".utf8), []], [good, [1]],
                [Array(good.prefix(40)), []], [FrameHeader(kind: .reply).encoded(), []],
                [Array(FrameHeader.echo(1).encoded(before: []).dropLast())],
                [FrameHeader(kind: .pong).encoded(before: [])],
                Array(repeating: [0], count: 500),
            ]
            for message in messages { peer.send(message) }
            #expect(
                try await eventually {
                    server.report.counters.malformedFrames + server.report.counters.foreignFrames == messages.count
                })
            #expect(server.report.counters.foreignFrames == 4)
            let client = try lab.client()
            #expect(try await client.call(Echo(text: "still"), .standard).text == "still")
        }
    }

    @Test func isAnsweredWhereItsHeaderCanBeRead() async throws {
        try await BusLab.run { lab in
            let server = try lab.server()
            let peer = RawPeer.caller(of: try #require(server.endpoint))
            try await peer.greet()
            for (id, field) in [(7, [0x81, 0, 0]), (8, [3, 9, 0])] as [(UInt64, [UInt8])] {
                peer.send([FrameHeader.echo(id).encoded() + field, []])
                let (header, body) = try #require(try await peer.receive(.error))
                #expect(header.correlationID == id)
                #expect(String(decoding: body, as: UTF8.self).contains(#""code":"invalid_message""#))
            }
        }
    }

    @Test func fuzzedFramesLeaveTheServerStanding() async throws {
        try await BusLab.run { lab in
            let server = try lab.server()
            let peer = RawPeer.caller(of: try #require(server.endpoint))
            try await peer.greet(newest: .onePart)
            let body = Array(#"{"text":"fuzz"}"#.utf8)
            var header = FrameHeader.echo(1)
            header.bodyLength = UInt32(body.count)
            let good = header.encoded(before: body)
            let count = Rounds.count(5000, prove: 1_000_000)
            var before = 0
            for round in 0..<count {
                if round == count / 10 {
                    try PeakMemory.forget()
                    before = try PeakMemory.read()
                }
                var bytes = good
                for _ in 0..<Int.random(in: 1...4) { bytes[Int.random(in: bytes.indices)] = .random(in: 0...255) }
                peer.send([bytes])
                if round % 100 == 0 { while try await !peer.receive(within: .milliseconds(1)).isEmpty {} }
            }
            let more = (try PeakMemory.read() - before) >> 20
            print("\(count) frames: \(more) MiB more")
            #expect(more < 8)
            let client = try lab.client()
            #expect(try await client.call(Echo(text: "still"), .standard).text == "still")
        }
    }

    /// The faults are half a bundle, an empty one, a length beyond the end, a bundle in a bundle, and one that is too
    /// long. The frames before the fault are answered, and the fault is counted.
    @Test func aBundleThatCannotBeReadIsCounted() async throws {
        try await BusLab.run { lab in
            let server = try lab.server()
            let peer = RawPeer.caller(of: try #require(server.endpoint))
            try await peer.greet(newest: .bundles)
            let prefix = Array("VST".utf8) + [WireVersion.bundles.rawValue]
            func frame(_ id: UInt64) -> [UInt8] {
                let body = Array(#"{"text":"a"}"#.utf8)
                var header = FrameHeader.echo(id)
                (header.bodyLength, header.sentAtMs) = (UInt32(body.count), MonotonicClock.now() / 1_000_000)
                let bytes = header.encoded(before: body)
                return [UInt8(bytes.count & 0xff), UInt8(bytes.count >> 8), 0, 0] + bytes
            }
            let empty: [UInt8] = [0, 0, 0, 0]
            let messages = [
                prefix, prefix + [1, 0], prefix + frame(1) + frame(2).dropLast(), prefix + [255, 255, 255, 255],
                prefix + frame(3) + empty, prefix + [8, 0, 0, 0] + prefix + empty,
                prefix + Array(repeating: frame(4), count: FrameBundle.mostFrames + 1).joined(),
            ]
            for message in messages { peer.send([message]) }
            var answered: Set<UInt64> = []
            while answered != [1, 3, 4] {
                let parts = try await peer.receive()
                try #require(!parts.isEmpty, "only \(answered) were answered")
                let replies = try RawPeer.frames(in: parts).filter { $0.0.kind == .reply }
                answered.formUnion(replies.map(\.0.correlationID))
            }
            #expect(
                try await eventually {
                    server.report.counters.malformedFrames + server.report.counters.foreignFrames == messages.count
                })
            let client = try lab.client()
            #expect(try await client.call(Echo(text: "still"), .standard).text == "still")
        }
    }

    @Test func requestsBeforeTheHelloAreRefused() async throws {
        try await BusLab.run { lab in
            let server = try lab.server()
            let peer = RawPeer.caller(of: try #require(server.endpoint))
            peer.send(.echo(9), Array(#"{"text":"a"}"#.utf8))
            let (hello, _) = try #require(try await peer.receive(.hello))
            #expect(hello.wantsHello)
            let (header, body) = try #require(try await peer.receive(.error))
            #expect(header.correlationID == 9)
            #expect(String(decoding: body, as: UTF8.self).contains(#""executed":"no""#))
            #expect(server.inFlight == 0)
        }
    }

    @Test func fromAReplicaIsCountedByTheCaller() async throws {
        try await BusLab.run { lab in
            let endpoint = "ipc://\(lab.directory)/auth-raw.sock"
            let replica = RawPeer.replica(at: endpoint)
            let client = try lab.client(of: .endpoints([endpoint]))
            let peer = try #require(try await replica.receive().first)
            replica.send([peer, Array("nonsense".utf8)])
            replica.send([peer, FrameHeader(kind: .pong).encoded(), Array("{".utf8)])
            replica.send([peer, FrameHeader(kind: .request).encoded(), []])
            #expect(try await eventually { client.misread >= 3 })
            #expect(!client.hasReadyReplica(of: .auth))
        }
    }

    /// The server has forgotten its caller, or is another process. The call is repeated after a new HELLO and succeeds.
    @Test func aCallerThatWasForgottenGreetsAgain() async throws {
        try await BusLab.run { lab in
            let endpoint = "ipc://\(lab.directory)/auth-raw.sock"
            let replica = RawPeer.replica(at: endpoint)
            let client = try lab.client(of: .endpoints([endpoint]))
            let peer = try #require(try await replica.receive().first)
            let instance = Identifier.ordered()
            @Loop func say(_ header: FrameHeader, _ text: String) {
                var header = header
                header.bodyLength = UInt32(text.utf8.count)
                replica.send([peer, header.encoded(), Array(text.utf8)])
            }
            @Loop func greet(stranger: Bool) {
                var hello = FrameHeader(kind: .hello)
                hello.wantsHello = stranger
                say(hello, String(decoding: RawPeer.hello(.auth, instance: instance), as: UTF8.self))
                if !stranger { say(FrameHeader(kind: .pong), #"{"state":"ready","queueDepth":0,"inFlight":0}"#) }
            }
            greet(stranger: false)
            let call = Loop.spawn { try await client.call(Charge(), .standard) }
            let (first, _) = try #require(try await replica.receive(.request))
            greet(stranger: true)
            say(
                FrameHeader(kind: .error, correlationID: first.correlationID),
                #"{"status":"UNAVAILABLE","code":"service_unavailable","detail":"","executed":"no"}"#)
            _ = try #require(try await replica.receive(.hello))
            greet(stranger: false)
            let (second, _) = try #require(try await replica.receive(.request))
            #expect(second.messageID == first.messageID && second.correlationID != first.correlationID)
            say(FrameHeader(kind: .reply, correlationID: second.correlationID), #"{"text":"done"}"#)
            #expect(try await call.value.text == "done")
        }
    }
}
