import EventLoop
import Glibc

/// A strict HTTP/1.1 server on the loop. It has no routes of its own.
///
/// It refuses every ambiguous message: see ``HTTPParser``. It answers the requests of a connection in order.
@Loop package final class HTTPServer {
    /// Makes the response to a request.
    package typealias Handler = @Loop (HTTPRequest) async -> HTTPResponse

    /// The decisions of the server's owner.
    package struct Delegate {
        /// The shares that count a connection from this address. An address without shares has no limit.
        package var shares: @Loop (String) -> [ConnectionShare]
        /// How to read the body of this request from this address. The default is to read up to 64 KiB.
        package var admission: @Loop (HTTPRequestHead, String) -> BodyAdmission
        /// The response to a refused message, given the client's address, and the message's head if the server could
        /// read it.
        package var errorResponse: @Loop (HTTPRefusal, HTTPRequestHead?, String) -> HTTPResponse
        /// Makes the response to a request.
        package var handler: Handler

        /// Makes a delegate. Only `handler` has no default.
        package init(
            shares: @escaping @Loop (String) -> [ConnectionShare] = { _ in [] },
            admission: @escaping @Loop (HTTPRequestHead, String) -> BodyAdmission = { _, _ in .read(limit: 65_536) },
            errorResponse: @escaping @Loop (HTTPRefusal, HTTPRequestHead?, String) -> HTTPResponse = {
                HTTPServer.plain($0, $1, $2)
            },
            handler: @escaping Handler
        ) {
            (self.shares, self.admission) = (shares, admission)
            (self.errorResponse, self.handler) = (errorResponse, handler)
        }
    }

    /// The length of the parts in which an ``HTTPUpload`` gets its body, in bytes.
    package nonisolated static let partLength = 65_536

    let limits: HTTPLimits
    private let host: String
    private let port: Int
    private let sharesPort: Bool
    private let delegate: Delegate
    private var listener: Listener?
    private var connections: [ObjectIdentifier: HTTPConnection] = [:]
    private let everybody: ConnectionGroup
    private var groups: [ConnectionShare: ConnectionGroup] = [:]
    private var acceptQueue = AcceptQueue()
    private var acceptTimer: LoopTimer?
    private(set) var isDraining = false
    private var drained: LoopPromise<Void>?

    /// - Parameters:
    ///   - host: a numeric address or `localhost`.
    ///   - port: 0 for any free port.
    ///   - sharesPort: whether replicas of the same user may listen on the port too. The kernel spreads the connections.
    ///   - limits: of connections, sizes and times.
    ///   - delegate: handles the requests.
    package init(
        host: String, port: Int, sharesPort: Bool = false, limits: HTTPLimits = HTTPLimits(), delegate: Delegate
    ) {
        (self.host, self.port, self.sharesPort) = (host, port, sharesPort)
        (self.limits, self.delegate) = (limits, delegate)
        everybody = ConnectionGroup(most: limits.connections)
    }

    /// Starts to listen.
    package func start() throws(HTTPServerError) {
        // Only this object has the listener. Once this object is gone, the listener is too, and calls nothing.
        listener = try Listener(host: host, port: port, sharesPort: sharesPort) { [unowned self] in
            !acceptQueue.isFull && hasPlace
        } onConnection: { [unowned self] descriptor, peer in
            accept(descriptor, peer)
        }
    }

    /// Whether there is room for one more connection, perhaps in place of another.
    private var hasPlace: Bool { !everybody.isFull || Self.whoGivesWay(in: everybody) != nil }

    /// The port that the server listens on; 0 if it does not listen.
    package var boundPort: Int { listener?.port ?? 0 }

    /// The number of open connections.
    package var connectionCount: Int { connections.count }

    /// While draining, how long a new connection may take to send its first request.
    private static let notice = Duration.milliseconds(500)

    /// Stops accepting connections, closes idle ones, and answers every request in flight with `Connection: close`.
    ///
    /// Connections that have not sent a request yet get half a second for it. Their first request may be unread or on
    /// its way, and a proxy does not repeat a POST.
    ///
    /// - Parameter patience: connections that are still open after it are closed.
    package func drain(within patience: Duration = .seconds(5)) async {
        listener?.acceptRest()
        for (descriptor, peer) in acceptQueue.empty() { connect(descriptor, peer, shares: delegate.shares(peer)) }
        listener?.close()
        listener = nil
        isDraining = true
        for connection in connections.values { connection.lookOnceMore() }
        for connection in connections.values where connection.isIdle && !connection.isNew { connection.close() }
        let notice = LoopTimer(after: min(Self.notice, patience)) { [self] in closeIdle() }
        defer { notice.cancel() }
        guard !connections.isEmpty else { return }
        let promise = drained ?? LoopPromise<Void>()
        drained = promise
        let timer = LoopTimer(after: patience) { [self] in cutOff() }
        try? await promise.get()
        timer.cancel()
    }

    private func closeIdle() {
        for connection in connections.values where connection.isIdle { connection.close() }
    }

    private func cutOff() {
        for connection in connections.values { connection.close() }
    }

    /// Connects a new socket or puts it into the queue. An address without shares does not wait in the queue.
    private func accept(_ descriptor: Int32, _ peer: String) {
        let shares = delegate.shares(peer)
        guard !shares.isEmpty else { return connect(descriptor, peer, shares: shares) }
        switch acceptQueue.enter(descriptor, from: peer, now: MonotonicClock.now()) {
        case .connects: connect(descriptor, peer, shares: shares)
        case .waits: connectNext()
        case .replaces(let oldest): Glibc.close(oldest)
        }
    }

    /// Connects sockets that wait in the queue, a few each millisecond.
    private func connectNext() {
        guard acceptTimer == nil else { return }
        acceptTimer = LoopTimer(after: .milliseconds(1)) { [self] in
            acceptTimer = nil
            if hasPlace {
                for (descriptor, peer) in acceptQueue.next(now: MonotonicClock.now()) {
                    connect(descriptor, peer, shares: delegate.shares(peer))
                }
            }
            if acceptQueue.count > 0 { connectNext() }
            listener?.resume()
        }
    }

    /// Makes the connection. If a share is used up, the server closes the connection of that share that has waited
    /// longest for its client. It does so even if the client has sent half a request. A connection that is due a
    /// response is never closed.
    private func connect(_ descriptor: Int32, _ peer: String, shares: [ConnectionShare]) {
        let groups = shares.map { self.groups[$0] ?? ConnectionGroup(most: $0.most) } + [everybody]
        for group in groups { makeRoom(in: group) }
        for (share, group) in zip(shares, groups) { self.groups[share] = group }
        let connection = HTTPConnection(descriptor, peer: peer, shares: shares, groups: groups, owner: self)
        connections[ObjectIdentifier(connection)] = connection
    }

    private func makeRoom(in group: ConnectionGroup) {
        while group.isFull, let oldest = Self.whoGivesWay(in: group) { oldest.close() }
    }

    /// The connection that has waited longest for its client. A request that has just arrived ends the wait.
    private static func whoGivesWay(in group: ConnectionGroup) -> HTTPConnection? {
        while let oldest = group.longestWaiting {
            oldest.lookOnceMore()
            if group.longestWaiting === oldest { return oldest }
        }
        return nil
    }

    /// The default response to a refused message: its sentence as plain text.
    package static func plain(_ refusal: HTTPRefusal, _ head: HTTPRequestHead?, _ peer: String) -> HTTPResponse {
        HTTPResponse(
            status: refusal.status, headers: ["content-type": "text/plain; charset=utf-8"],
            body: Array((refusal.sentence + "\n").utf8))
    }
}

extension HTTPServer: HTTPConnectionOwner {
    func admission(of head: HTTPRequestHead, from peer: String) -> BodyAdmission { delegate.admission(head, peer) }

    var handler: Handler { delegate.handler }

    func refuse(_ refusal: HTTPRefusal, _ head: HTTPRequestHead?, from peer: String) -> HTTPResponse {
        delegate.errorResponse(refusal, head, peer)
    }

    func connectionWaits() { listener?.resume() }

    func connectionEnded(_ connection: HTTPConnection) {
        connections[ObjectIdentifier(connection)] = nil
        for share in connection.shares where groups[share]?.count == 0 { groups[share] = nil }
        listener?.resume()
        if connections.isEmpty { drained?.resolve(.success(())) }
    }
}
