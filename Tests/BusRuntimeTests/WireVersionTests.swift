import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

/// Two builds of which one knows only frames in two parts understand each other, whichever asks.
@Suite("Wire version") struct WireVersionTests {
    @Test(arguments: [WireVersion.twoParts, .onePart])
    func aCallerIsAnsweredInTheNewestThatItKnows(newest: WireVersion) async throws {
        try await BusLab.run { lab in
            let server = try lab.server()
            let peer = RawPeer.caller(of: try #require(server.endpoint))
            try await peer.greet(newest: newest)
            // What a caller sends is read in either form.
            for (id, form) in [(1, WireVersion.twoParts), (2, .onePart)] as [(UInt64, WireVersion)] {
                peer.send(.echo(id), Array(#"{"text":"a"}"#.utf8), in: form)
                let answer = try #require(try await peer.receiveFrame(of: [.reply]))
                #expect(answer.header.correlationID == id && answer.wire == newest)
                #expect(String(decoding: answer.body, as: UTF8.self) == #"{"text":"a"}"#)
            }
        }
    }

    @Test(arguments: [WireVersion.twoParts, .onePart])
    func aReplicaIsAskedInTheNewestThatItKnows(newest: WireVersion) async throws {
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
}
