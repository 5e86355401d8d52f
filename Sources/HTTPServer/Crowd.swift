import EventLoop

/// Connections that have something in common and a bound together: the server's, those of an address, those of a network.
///
/// It keeps those that wait for their clients in the order in which they began to, so that the one that waits longest is
/// found at once. Entering, leaving and waiting take the same time however many there are.
@Loop final class Crowd {
    private(set) var count = 0
    private let most: Int
    private var first: Place?
    private var last: Place?

    /// - Parameter most: connections, 1 or more.
    init(most: Int) { self.most = most }

    var isFull: Bool { count >= most }

    /// The connection that has waited for its client longest; `nil` where the server has work for all of them.
    var longestWaiting: HTTPConnection? { first?.connection }

    /// One connection's place in a crowd.
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

        /// Goes behind those that wait already; nothing where it waits.
        func wait() {
            guard !isWaiting else { return }
            isWaiting = true
            previous = crowd.last
            if let last = crowd.last { last.next = self } else { crowd.first = self }
            crowd.last = self
        }

        /// Waits for its client no more.
        func stopWaiting() {
            guard isWaiting else { return }
            isWaiting = false
            let (before, after) = (previous, next)
            (previous, next) = (nil, nil)
            if let before { before.next = after } else { crowd.first = after }
            if let after { after.previous = before } else { crowd.last = before }
        }

        /// Its connection is over.
        func leave() {
            stopWaiting()
            crowd.count -= 1
        }
    }
}
