import BusProtocol
import EventLoop

/// Where an answer is sent.
struct ReturnAddress {
    /// The routing ID of the ROUTER socket.
    let id: [UInt8]
    /// The wire version that the peer understands.
    var wire: WireVersion
}

/// A caller's connection, as the server knows it since its HELLO.
@Loop final class Peer {
    private(set) var address: ReturnAddress
    /// The number of its connection's key; 0 on a bus without keys.
    let identity: BusSecurity.Identity
    /// The key of its connection; `nil` on a bus without keys.
    let key: BusKey?
    private(set) var hello: Hello
    private(set) var lastHeard = MonotonicClock.now()
    /// The requests that it waits for.
    var inFlight = 0
    /// This process was paused. Frames that the peer sent before its next HELLO may be old, and are not executed.
    private(set) var mustGreet = false
    /// The delay of its last frame beyond the shortest delay, in nanoseconds. Without it, a resumed process would
    /// execute requests whose callers have given up.
    private(set) var delay: UInt64 = 0
    private var way = DelayEstimator()

    init(id: [UInt8], identity: BusSecurity.Identity, key: BusKey?, hello: Hello) {
        address = ReturnAddress(id: id, wire: hello.commonWire)
        (self.identity, self.key, self.hello) = (identity, key, hello)
    }

    func greeted(_ hello: Hello) {
        (self.hello, mustGreet, way) = (hello, false, DelayEstimator())
        address.wire = hello.commonWire
    }

    func heard(frameSentAt sentAtMs: UInt64) {
        lastHeard = MonotonicClock.now()
        // A sender's clock may have any value, so the delay is limited to an hour.
        delay = UInt64(min(way.delay(sentAtMs: sentAtMs, now: lastHeard), 3_600_000)) * 1_000_000
    }

    func becomeStranger() { mustGreet = true }
}
