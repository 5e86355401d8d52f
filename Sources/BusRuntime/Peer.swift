import EventLoop

/// A caller's connection, as the answering side knows it from its HELLO on.
@Loop final class Peer {
    /// Routing id of the ROUTER socket.
    let id: [UInt8]
    /// Whose key its connection has; 0 on a bus without keys.
    let identity: BusSecurity.Identity
    var hello: Hello {
        didSet { shortestWay = nil }
    }
    var lastHeard = MonotonicClock.now()
    /// Requests that it waits for.
    var inFlight = 0
    /// The shortest way that a frame had, in ms between two clocks that have nothing to do with each other.
    private var shortestWay: Int64?

    init(id: [UInt8], identity: BusSecurity.Identity, hello: Hello) {
        (self.id, self.identity, self.hello) = (id, identity, hello)
    }

    /// Milliseconds that a frame was on its way beyond the shortest way: in a queue, or before a process that stood
    /// still. Without it a process that is thawed would do what nobody waits for any more.
    func delay(ofFrameSentAt sentAtMs: UInt64) -> Int64 {
        // A clock that cannot be is none.
        guard sentAtMs > 0, sentAtMs < 1 << 60 else { return 0 }
        let way = Int64(Bus.clockMilliseconds()) - Int64(sentAtMs)
        let shortest = min(shortestWay ?? way, way)
        shortestWay = shortest
        return way - shortest
    }
}
