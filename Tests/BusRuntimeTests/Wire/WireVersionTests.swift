import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

/// Two builds understand each other if one of them knows only frames in two parts, whichever of them calls.
@Suite("Wire version") struct WireVersionTests {
    @Test(arguments: [WireVersion.twoParts, .onePart])
    func aCallerIsAnsweredInItsNewestVersion(newest: WireVersion) async throws {
        try await BusLab.run { lab in
            let server = try lab.server()
            let peer = RawPeer.caller(of: try #require(server.endpoint))
            try await peer.greet(newest: newest)
            // The server reads both forms.
            for (id, form) in [(1, WireVersion.twoParts), (2, .onePart)] as [(UInt64, WireVersion)] {
                peer.send(.echo(id), Array(#"{"text":"a"}"#.utf8), in: form)
                let answer = try #require(try await peer.receiveFrame(of: [.reply]))
                #expect(answer.header.correlationID == id && answer.wire == newest)
                #expect(String(decoding: answer.body, as: UTF8.self) == #"{"text":"a"}"#)
            }
        }
    }

    @Test(arguments: [WireVersion.twoParts, .onePart])
    func aReplicaIsAskedInItsNewestVersion(newest: WireVersion) async throws {
        try await BusLab.run { lab in
            let endpoint = "ipc://\(lab.directory)/auth-raw.sock"
            let replica = RawPeer.replica(at: endpoint)
            let client = try lab.client(of: .endpoints([endpoint]))
            let greeting = try await replica.receive()
            #expect(greeting.count == 3, "a HELLO comes in the form that everybody reads")
            let peer = try #require(greeting.first)
            @Loop func say(_ header: FrameHeader, _ body: [UInt8]) {
                var header = header
                header.bodyLength = UInt32(body.count)
                replica.send([peer] + (newest == .onePart ? [header.encoded(before: body)] : [header.encoded(), body]))
            }
            say(FrameHeader(kind: .hello), RawPeer.hello(.auth, newest: newest))
            say(FrameHeader(kind: .pong), Array(#"{"state":"ready","queueDepth":0,"inFlight":0}"#.utf8))
            let call = Loop.spawn { try await client.call(Charge(), .standard) }
            let request = try #require(try await replica.receiveFrame(of: [.request]))
            #expect(request.wire == newest)
            say(FrameHeader(kind: .reply, correlationID: request.header.correlationID), Array(#"{"text":"done"}"#.utf8))
            #expect(try await call.value.text == "done")
        }
    }

    /// Requests that arrive together are answered in a bundle, if the caller understands bundles.
    @Test(arguments: [WireVersion.onePart, .bundles])
    func aBundleIsAnsweredByABundleIfTheCallerKnowsBundles(newest: WireVersion) async throws {
        try await BusLab.run { lab in
            let server = try lab.server()
            let peer = RawPeer.caller(of: try #require(server.endpoint))
            try await peer.greet(newest: newest)
            peer.send([Self.message(of: (1...5).map { (.echo($0), Array(#"{"text":"\#($0)"}"#.utf8)) })])
            var answers: [UInt64: String] = [:]
            var messages = 0
            while answers.count < 5 {
                let parts = try await peer.receive()
                let replies = try RawPeer.frames(in: parts).filter { $0.0.kind == .reply }
                for (header, body) in replies { answers[header.correlationID] = String(decoding: body, as: UTF8.self) }
                if !replies.isEmpty { messages += 1 }
                try #require(!parts.isEmpty, "an answer is missing")
            }
            #expect(answers == [1: "1", 2: "2", 3: "3", 4: "4", 5: "5"].mapValues { #"{"text":"\#($0)"}"# })
            if newest == .bundles { #expect(messages < 5) } else { #expect(messages == 5) }
        }
    }

    @Test(arguments: [WireVersion.onePart, .bundles])
    func concurrentRequestsAreBundledIfTheReplicaKnowsBundles(newest: WireVersion) async throws {
        try await BusLab.run { lab in
            let endpoint = "ipc://\(lab.directory)/auth-raw.sock"
            let replica = RawPeer.replica(at: endpoint)
            let client = try lab.client(of: .endpoints([endpoint]))
            let id = try #require(try await replica.receive().first)
            @Loop func say(_ frames: [(FrameHeader, [UInt8])]) { replica.send([id, Self.message(of: frames)]) }
            say([(FrameHeader(kind: .hello), RawPeer.hello(.auth, newest: newest))])
            say([(FrameHeader(kind: .pong), Array(#"{"state":"ready","queueDepth":0,"inFlight":0}"#.utf8))])
            // The first call waits until the replica is ready.
            let first = Loop.spawn { try await client.call(Echo(text: "first"), .standard) }
            let (header, body) = try #require(try await replica.receive(.request))
            say([(FrameHeader(kind: .reply, correlationID: header.correlationID), body)])
            #expect(try await first.value.text == "first")

            let calls = (1...5).map { number in
                Loop.spawn { try await client.call(Echo(text: "\(number)"), .standard) }
            }
            var requests: [(FrameHeader, [UInt8])] = []
            var messages = 0
            while requests.count < 5 {
                let parts = try await replica.receive()
                let frames = try RawPeer.frames(in: Array(parts.dropFirst())).filter { $0.0.kind == .request }
                requests += frames
                if !frames.isEmpty { messages += 1 }
                try #require(!parts.isEmpty, "a request is missing")
            }
            if newest == .bundles { #expect(messages < 5) } else { #expect(messages == 5) }
            let answers = requests.map { (FrameHeader(kind: .reply, correlationID: $0.0.correlationID), $0.1) }
            if newest == .bundles { say(answers) } else { for answer in answers { say([answer]) } }
            for (number, call) in zip(1..., calls) { #expect(try await call.value.text == "\(number)") }
        }
    }

    /// The message for libzmq: a single frame as it is, several frames as a bundle.
    private static func message(of frames: [(FrameHeader, [UInt8])]) -> [UInt8] {
        var bundle = FrameBundle()
        for (header, body) in frames {
            var header = header
            header.bodyLength = UInt32(body.count)
            header.sentAtMs = MonotonicClock.now() / 1_000_000
            bundle.append(header, body)
        }
        return bundle.withMessage { Array($0) }
    }
}
