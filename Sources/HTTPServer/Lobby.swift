/// Sockets that were accepted and have no connection yet.
///
/// An address gets two connections in a millisecond. What it brings beyond that waits here, behind itself only: a flood would
/// keep others waiting by the work of making and ending connections.
struct Lobby {
    /// What becomes of who has come in.
    enum Entry: Equatable {
        case connects
        case waits
        /// It waits in the place of this one, which is closed: of its address the oldest.
        case replaces(Int32)
    }

    /// Connections of one address in a millisecond.
    private static let pace = 2
    private static let step = Duration.milliseconds(1).nanoseconds
    /// Sockets of one address that wait.
    static let mostOfAnAddress = 64
    /// Sockets that wait in all: few beside the files that a gateway keeps free.
    static let most = 128

    private var queues: [String: [Int32]] = [:]
    private var connected: [String: Int] = [:]
    private var stepEnd: UInt64 = 0
    /// How many wait.
    private(set) var count = 0
    var isFull: Bool { count >= Self.most }

    /// - Parameter now: of the monotonic clock, nanoseconds.
    mutating func enter(_ descriptor: Int32, from peer: String, now: UInt64) -> Entry {
        begin(now)
        guard queues[peer] == nil, connected[peer, default: 0] < Self.pace else { return wait(descriptor, peer) }
        connected[peer, default: 0] += 1
        return .connects
    }

    /// Who connects now, of each address the oldest.
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

    /// Everybody, whatever the pace.
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
