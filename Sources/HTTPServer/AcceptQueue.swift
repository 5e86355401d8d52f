/// Accepted sockets that have no connection yet.
///
/// An address gets two connections a millisecond. Its further sockets wait here in a queue of their own. Without that,
/// the work of opening and closing many connections for one address would delay the others.
struct AcceptQueue {
    /// The decision on a new socket.
    enum Entry: Equatable {
        case connects
        case waits
        /// The new socket waits in place of this one, the oldest of its address. The caller must close this one.
        case replaces(Int32)
    }

    /// The connections that an address gets in one `step`.
    private static let pace = 2
    private static let step = Duration.milliseconds(1).nanoseconds
    /// The most waiting sockets of one address.
    static let mostOfAnAddress = 64
    /// The most waiting sockets in all. It is small compared with the number of files that a gateway keeps free.
    static let most = 128

    private var queues: [String: [Int32]] = [:]
    private var connected: [String: Int] = [:]
    private var stepEnd: UInt64 = 0
    /// The number of waiting sockets.
    private(set) var count = 0
    var isFull: Bool { count >= Self.most }

    /// - Parameter now: in nanoseconds of the monotonic clock.
    mutating func enter(_ descriptor: Int32, from peer: String, now: UInt64) -> Entry {
        begin(now)
        guard queues[peer] == nil, connected[peer, default: 0] < Self.pace else { return wait(descriptor, peer) }
        connected[peer, default: 0] += 1
        return .connects
    }

    /// Removes and returns the sockets that may connect now, the oldest of each address first.
    mutating func next(now: UInt64) -> [(descriptor: Int32, peer: String)] {
        begin(now)
        var leaving: [(Int32, String)] = []
        for (peer, queue) in queues {
            let first = queue.prefix(max(0, Self.pace - connected[peer, default: 0]))
            connected[peer, default: 0] += first.count
            queues[peer] = first.count == queue.count ? nil : Array(queue.dropFirst(first.count))
            leaving += first.map { ($0, peer) }
        }
        count -= leaving.count
        return leaving
    }

    /// Removes and returns all sockets.
    mutating func empty() -> [(descriptor: Int32, peer: String)] {
        defer { (queues, count) = ([:], 0) }
        return queues.flatMap { peer, queue in queue.map { ($0, peer) } }
    }

    private mutating func begin(_ now: UInt64) {
        guard now >= stepEnd else { return }
        (connected, stepEnd) = ([:], now + Self.step)
    }

    private mutating func wait(_ descriptor: Int32, _ peer: String) -> Entry {
        queues[peer, default: []].append(descriptor)
        guard let queue = queues[peer], queue.count > Self.mostOfAnAddress else {
            count += 1
            return .waits
        }
        queues[peer] = Array(queue.dropFirst())
        return .replaces(queue[0])
    }
}
