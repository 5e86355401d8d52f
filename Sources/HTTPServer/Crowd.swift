import EventLoop

/// Connections that share a limit: all of the server, those of an address, or those of a network.
///
/// It lists the connections that wait for their clients, the longest wait first. Every operation takes constant time.
@Loop final class Crowd {
    private(set) var count = 0
    private let most: Int
    private var first: Place?
    private var last: Place?

    /// - Parameter most: the most connections, from 1.
    init(most: Int) { self.most = most }

    var isFull: Bool { count >= most }

    /// The connection that has waited longest for its client; `nil` if none waits.
    var longestWaiting: HTTPConnection? { first?.connection }

    /// The membership of one connection in a crowd.
    @Loop final class Place {
        let crowd: Crowd
        fileprivate unowned let connection: HTTPConnection
        fileprivate var next: Place?
        fileprivate unowned(unsafe) var previous: Place?
        private(set) var isWaiting = false

        init(of connection: HTTPConnection, in crowd: Crowd) {
            (self.connection, self.crowd) = (connection, crowd)
            crowd.count += 1
        }

        /// Adds the connection at the end of those that wait. Does nothing if it waits already.
        func wait() {
            guard !isWaiting else { return }
            isWaiting = true
            previous = crowd.last
            if let last = crowd.last { last.next = self } else { crowd.first = self }
            crowd.last = self
        }

        /// Removes the connection from those that wait.
        func stopWaiting() {
            guard isWaiting else { return }
            isWaiting = false
            let (before, after) = (previous, next)
            (previous, next) = (nil, nil)
            if let before { before.next = after } else { crowd.first = after }
            if let after { after.previous = before } else { crowd.last = before }
        }

        /// Removes the connection from the crowd.
        func leave() {
            stopWaiting()
            crowd.count -= 1
        }
    }
}
