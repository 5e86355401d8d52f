import EventLoop

/// Connections that share a limit: those of the whole server, of an address, or of a network.
///
/// It lists the connections that wait for their clients, the longest wait first. Every operation takes constant time.
@Loop final class ConnectionGroup {
    private(set) var count = 0
    private let most: Int
    private var first: Place?
    private var last: Place?

    /// - Parameter most: the most connections, from 1.
    init(most: Int) { self.most = most }

    var isFull: Bool { count >= most }

    /// The connection that has waited longest for its client; `nil` if none waits.
    var longestWaiting: HTTPConnection? { first?.connection }

    /// The membership of one connection in a group.
    @Loop final class Place {
        let group: ConnectionGroup
        fileprivate unowned let connection: HTTPConnection
        fileprivate var next: Place?
        fileprivate unowned(unsafe) var previous: Place?
        private(set) var isWaiting = false

        init(of connection: HTTPConnection, in group: ConnectionGroup) {
            (self.connection, self.group) = (connection, group)
            group.count += 1
        }

        /// Adds the connection at the end of the waiting ones. Does nothing if it waits already.
        func wait() {
            guard !isWaiting else { return }
            isWaiting = true
            previous = group.last
            if let last = group.last { last.next = self } else { group.first = self }
            group.last = self
        }

        /// Removes the connection from the waiting ones.
        func stopWaiting() {
            guard isWaiting else { return }
            isWaiting = false
            let (before, after) = (previous, next)
            (previous, next) = (nil, nil)
            if let before { before.next = after } else { group.first = after }
            if let after { after.previous = before } else { group.last = before }
        }

        /// Removes the connection from the group.
        func leave() {
            stopWaiting()
            group.count -= 1
        }
    }
}
