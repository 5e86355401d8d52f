import EventLoop
import Glibc

/// A strict HTTP/1.1 server on the loop. It knows nothing of routes.
///
/// Every message is read in one way or refused: see ``HTTPParser``. Requests of one connection are answered in order.
@Loop public final class HTTPServer {
    public typealias Handler = @Loop (HTTPRequest) async -> HTTPResponse

    /// What the server asks of whoever knows the routes.
    public struct Delegate {
        /// The shares that a connection from this address counts for; none for one that may have as many as it likes.
        public var shares: @Loop (String) -> [ConnectionShare]
        /// What becomes of the body of this request, from this address; read up to 64 KiB unless said otherwise.
        public var admission: @Loop (HTTPRequestHead, String) -> BodyAdmission
        /// The answer to a message that is not served; the head where it was read, and the client's address.
        public var errorResponse: @Loop (HTTPRefusal, HTTPRequestHead?, String) -> HTTPResponse
        public var handler: Handler

        public init(
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

    let limits: HTTPLimits
    private let host: String
    private let port: Int
    private let delegate: Delegate
    private var listener: Listener?
    private var connections: [ObjectIdentifier: HTTPConnection] = [:]
    private let everybody: Crowd
    private var crowds: [ConnectionShare: Crowd] = [:]
    private var lobby = Lobby()
    private var lobbyTimer: LoopTimer?
    private(set) var isDraining = false
    private var drained: LoopPromise<Void>?

    /// - Parameters:
    ///   - host: a numeric address or `localhost`.
    ///   - port: 0 for any that is free.
    public init(host: String, port: Int, limits: HTTPLimits = HTTPLimits(), delegate: Delegate) {
        (self.host, self.port, self.limits, self.delegate) = (host, port, limits, delegate)
        everybody = Crowd(most: limits.connections)
    }

    /// Listens from now on.
    public func start() throws(HTTPServerError) {
        listener = try Listener(host: host, port: port) { [weak self] in
            guard let self else { return false }
            return !lobby.isFull && hasPlace
        } onConnection: { [weak self] descriptor, peer in
            self?.accept(descriptor, peer)
        }
    }

    /// Whether one more connection may be made.
    private var hasPlace: Bool { !everybody.isFull || Self.whoGivesWay(in: everybody) != nil }

    /// The port that is listened at; 0 where the server does not.
    public var boundPort: Int { listener?.port ?? 0 }

    public var connectionCount: Int { connections.count }

    /// How long who has connected and not said anything yet may take to say it.
    private static let notice = Duration.milliseconds(500)

    /// Accepts no more, closes what is idle, finishes every request in flight with `Connection: close`. Who has come in
    /// already is served: their first request may lie there unread, or be on its way, and a proxy sends no POST twice.
    ///
    /// - Parameter patience: connections that are open after it are cut off.
    public func drain(within patience: Duration = .seconds(5)) async {
        listener?.acceptRest()
        for (descriptor, peer) in lobby.empty() { connect(descriptor, peer, shares: delegate.shares(peer)) }
        listener?.close()
        listener = nil
        isDraining = true
        for connection in connections.values { connection.lookOnceMore() }
        for connection in connections.values where connection.isIdle && !connection.isNew { connection.close() }
        let notice = LoopTimer(after: min(Self.notice, patience)) { [weak self] in self?.closeIdle() }
        defer { notice.cancel() }
        guard !connections.isEmpty else { return }
        let promise = drained ?? LoopPromise<Void>()
        drained = promise
        let timer = LoopTimer(after: patience) { [weak self] in self?.cutOff() }
        try? await promise.get()
        timer.cancel()
    }

    private func closeIdle() {
        for connection in connections.values where connection.isIdle { connection.close() }
    }

    private func cutOff() {
        for connection in connections.values { connection.close() }
    }

    /// Lets a newcomer in, or into the lobby; who may have any number of connections does not wait there.
    private func accept(_ descriptor: Int32, _ peer: String) {
        let shares = delegate.shares(peer)
        guard !shares.isEmpty else { return connect(descriptor, peer, shares: shares) }
        switch lobby.enter(descriptor, from: peer, now: MonotonicClock.now()) {
        case .connects: connect(descriptor, peer, shares: shares)
        case .waits: connectNext()
        case .replaces(let oldest): Glibc.close(oldest)
        }
    }

    /// Takes who waits in the lobby out of it, a few each millisecond.
    private func connectNext() {
        guard lobbyTimer == nil else { return }
        lobbyTimer = LoopTimer(after: .milliseconds(1)) { [weak self] in
            guard let self else { return }
            lobbyTimer = nil
            if hasPlace {
                for (descriptor, peer) in lobby.next(now: MonotonicClock.now()) {
                    connect(descriptor, peer, shares: delegate.shares(peer))
                }
            }
            if lobby.count > 0 { connectNext() }
            listener?.resume()
        }
    }

    /// Where a share is used up, whoever of it has waited longest for its client gives way, also in the midst of a request; who
    /// is owed an answer never does.
    private func connect(_ descriptor: Int32, _ peer: String, shares: [ConnectionShare]) {
        let crowds = shares.map { self.crowds[$0] ?? Crowd(most: $0.most) } + [everybody]
        for crowd in crowds { makeRoom(in: crowd) }
        for (share, crowd) in zip(shares, crowds) { self.crowds[share] = crowd }
        let connection = HTTPConnection(descriptor, peer: peer, shares: shares, crowds: crowds, owner: self)
        connections[ObjectIdentifier(connection)] = connection
    }

    private func makeRoom(in crowd: Crowd) {
        while crowd.isFull, let oldest = Self.whoGivesWay(in: crowd) { oldest.close() }
    }

    /// Whoever has waited longest for its client; a request that came a moment ago ends the waiting.
    private static func whoGivesWay(in crowd: Crowd) -> HTTPConnection? {
        while let oldest = crowd.longestWaiting {
            oldest.lookOnceMore()
            if crowd.longestWaiting === oldest { return oldest }
        }
        return nil
    }

    /// The answer to a refused message where nobody renders a better one.
    public static func plain(_ refusal: HTTPRefusal, _ head: HTTPRequestHead?, _ peer: String) -> HTTPResponse {
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
        for share in connection.shares where crowds[share]?.count == 0 { crowds[share] = nil }
        listener?.resume()
        if connections.isEmpty { drained?.resolve(.success(())) }
    }
}
