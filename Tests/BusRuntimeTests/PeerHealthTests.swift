import BusProtocol
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import BusRuntime

@Suite("What is known of a peer") struct PeerHealthTests {
    private let second: UInt64 = 1_000_000_000

    @Test func aNewReplicaGetsAGrowingShare() {
        let shares = (0...4).map { SlowStart.share(age: UInt64($0) * second / 2) }
        #expect(zip(shares, [0.1, 0.325, 0.55, 0.775, 1]).allSatisfy { abs($0 - $1) < 1e-9 })
        #expect(SlowStart.share(age: .max) == 1)
        #expect(abs(SlowStart.chance(age: 0, oldest: 60 * second) - 0.1) < 1e-9)
        #expect(SlowStart.chance(age: 0, oldest: 0) == 1 && SlowStart.chance(age: second, oldest: second) == 1)
    }

    @Test func fiveMissesInARowPutAReplicaAside() {
        var health = OutlierEjection()
        for _ in 0..<4 { health.missed(at: second) }
        health.answered(at: second)
        for _ in 0..<4 { health.missed(at: second) }
        #expect(!health.isAside(at: second))
        health.missed(at: second)
        #expect(health.isAside(at: 2 * second) && !health.isAside(at: 3 * second))
    }

    @Test func silenceUnderFiveCallsPutsAReplicaAside() {
        var health = OutlierEjection()
        health.beginsWork(at: second)
        health.look(inFlight: 4, at: 60 * second)
        health.look(inFlight: 64, at: second + 800_000_000)
        #expect(!health.isAside(at: second + 800_000_000))
        health.look(inFlight: 5, at: second + 800_000_001)
        #expect(health.isAside(at: second + 800_000_001))
    }

    @Test func aDelayIsMeasuredAgainstTheShortestOne() {
        var way = DelayEstimator()
        // The receiver's clock is 5 s ahead, and the way takes at least 2 ms.
        func delay(_ sentAtMs: UInt64, _ nowMs: UInt64) -> Int64 {
            way.delay(sentAtMs: sentAtMs, now: nowMs * 1_000_000)
        }
        #expect(delay(10_000, 15_010) == 0)
        #expect(delay(10_100, 15_102) == 0)
        #expect(delay(10_200, 15_212) == 10)
        #expect(delay(0, 15_212) == 0 && delay(.max, 15_212) == 0)
        // The receiver stood still for two minutes, longer than a window. The full age of what waited is measured.
        #expect(delay(10_300, 135_302) == 120_000)
        #expect(delay(10_301, 135_302) == 119_999)
        #expect(delay(130_310, 135_312) == 0)
    }

    @Test func theDelayEstimateFollowsClockDrift() {
        var way = DelayEstimator()
        var worst: Int64 = 0
        // A day of PINGs, with a clock that loses 100 µs per second: 8.6 s in all.
        for quarter in 0..<UInt64(4 * 86_400) {
            let now = quarter * second / 4 + second
            let sent = now / 1_000_000 - now / 10_000 / 1_000_000
            worst = max(worst, way.delay(sentAtMs: sent, now: now))
        }
        #expect(worst <= 8)
    }

    @Test func aPauseIsAGapInTheLoopsOwnClock() {
        var detector = PauseDetector(at: second)
        let gaps = [second + 200_000_000, second + 450_000_000, second + 700_000_001, second + 700_000_002]
            .map { detector.look(at: $0) }
        #expect(gaps == [false, false, true, false])
    }

    @Test func aClockJumpRefusesAtMostTheRequestThatLooksOld() async throws {
        try await BusLab.run { lab in
            let server = try lab.server()
            let peer = RawPeer.caller(of: try #require(server.endpoint))
            try await peer.greet()
            for (id, sentAt) in [(1, 1 << 59), (2, 1), (3, .max)] as [(UInt64, UInt64)] {
                var header = FrameHeader.echo(id)
                header.sentAtMs = sentAt
                peer.send(header, Array(#"{"text":"a"}"#.utf8))
                let (answer, _) = try #require(try await peer.receive(.reply, .error))
                #expect(answer.correlationID == id && answer.kind == (id == 2 ? .error : .reply))
            }
        }
    }

    /// The refusal comes before the answer to the new HELLO. In another order, the caller would take the refusal for
    /// one from a server that knows it, and pass it on.
    @Test func refusalsOfAPauseComeBeforeTheAnswerToANewHello() async throws {
        try await BusLab.run { lab in
            let server = try lab.server()
            let peer = RawPeer.caller(of: try #require(server.endpoint))
            try await peer.greet(newest: .bundles)
            peer.send(.echo(1), Array(#"{"text":"a"}"#.utf8), in: .onePart)
            peer.send(FrameHeader(kind: .hello), RawPeer.hello(.gateway, newest: .bundles))
            // This is the pause itself, because the server runs on this loop.
            usleep(300_000)
            var heard: [FrameHeader] = []
            while heard.count < 3 {
                heard.append(try #require(try await peer.receive(.hello, .error, .reply)).0)
            }
            #expect(heard.map(\.kind) == [.hello, .error, .hello])
            #expect(heard[0].wantsHello && !heard[2].wantsHello)
        }
    }

    /// A replica that answers PINGs but no requests. Its callers would wait for minutes.
    @Test(.timed) func aReplicaThatHoldsItsCallsIsOutWithinASecond() async throws {
        try await BusLab.run { lab in
            var held: [UInt64] = []
            _ = try lab.server(handlers: [
                EchoHandler { _, _ in
                    held.append(MonotonicClock.now())
                    try await Loop.sleep(for: .seconds(60))
                    return ""
                }
            ])
            _ = try lab.server(handlers: [
                EchoHandler { request, _ in
                    try await Loop.sleep(for: .milliseconds(20))
                    return request.text
                }
            ])
            let client = try lab.client()
            #expect(try await eventually { client.replicas(of: .auth).count { $0.state == .ready } == 2 })
            let calls = (0..<16).map { _ in
                Loop.spawn { try await client.call(Echo(text: "a"), .within(.seconds(60))) }
            }
            #expect(try await eventually { held.count > 5 })
            let first = try #require(held.first)
            while MonotonicClock.now() < first + second {
                // Until the replica is ejected, it may get such a call and hold it.
                _ = await failure { () throws(BusError) in
                    try await client.call(Echo(text: "one by one"), .within(.milliseconds(100)))
                }
            }
            // These are more calls than it holds. It would have the fewest in flight and get some, if it were not
            // ejected.
            let errors = try await atOnce(48) {
                await failure { () throws(BusError) in try await client.call(Echo(text: "together"), .standard) }
            }
            #expect(errors.allSatisfy { $0 == nil }, .time)
            let last = Duration.nanoseconds((held.last ?? first) - first)
            print("held \(held.count), the last \(last) after the first")
            #expect(last < .seconds(1), .time)
            #expect(try await eventually { client.replicas(of: .auth).allSatisfy { $0.isAlive } })
            for call in calls { call.cancel() }
        }
    }
}
