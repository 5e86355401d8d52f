import BusProtocol
import EventLoop

/// Where an answer goes.
struct ReturnAddress {
    /// Routing id of the ROUTER socket.
    let id: [UInt8]
    /// That whoever is there understands.
    var wire: WireVersion
}

/// A caller's connection, as the answering side knows it from its HELLO on.
@Loop final class Peer {
    private(set) var address: ReturnAddress
    /// Whose key its connection has; 0 on a bus without keys.
    let identity: BusSecurity.Identity
    /// That key; `nil` on a bus without keys.
    let key: BusKey?
    private(set) var hello: Hello
    private(set) var lastHeard = MonotonicClock.now()
    /// Requests that it waits for.
    var inFlight = 0
    /// This process stood still: what the peer sent before it greets again may be old, and is not executed.
    private(set) var mustGreet = false
    /// Nanoseconds that its last frame was on its way, beyond the shortest way. Without it a process that is thawed would
    /// do what nobody waits for any more.
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
        // A sender's clock may say anything: an hour is as good as for ever.
        delay = UInt64(min(way.delay(sentAtMs: sentAtMs, now: lastHeard), 3_600_000)) * 1_000_000
    }

    func becomeStranger() { mustGreet = true }
}
