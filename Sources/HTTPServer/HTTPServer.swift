import EventLoop

/// A strict HTTP/1.1 server on the loop. It knows nothing of routes.
///
/// Every message is read in one way or refused: see ``HTTPParser``. Requests of one connection are answered in order.
@Loop public final class HTTPServer {
    public typealias Handler = @Loop (HTTPRequest) async -> HTTPResponse

    /// What the server asks of whoever knows the routes.
    public struct Delegate {
        /// Bytes that the body of this request may have; 64 KiB unless said otherwise.
        public var bodyLimit: @Loop (HTTPRequestHead) -> Int
        /// The answer to a message that is not served; the head where it was read, and the client's address.
        public var errorResponse: @Loop (HTTPRefusal, HTTPRequestHead?, String) -> HTTPResponse
        public var handler: Handler

        public init(
            bodyLimit: @escaping @Loop (HTTPRequestHead) -> Int = { _ in 65_536 },
            errorResponse: @escaping @Loop (HTTPRefusal, HTTPRequestHead?, String) -> HTTPResponse = {
                HTTPServer.plain($0, $1, $2)
            },
            handler: @escaping Handler
        ) {
            (self.bodyLimit, self.errorResponse, self.handler) = (bodyLimit, errorResponse, handler)
        }
    }

    let limits: HTTPLimits
    private let host: String
    private let port: Int
    private let delegate: Delegate
    private var listener: Listener?
    private var connections: [ObjectIdentifier: HTTPConnection] = [:]
    private(set) var isDraining = false
    private var drained: LoopPromise<Void>?

    /// - Parameters:
    ///   - host: a numeric address or `localhost`.
    ///   - port: 0 for any that is free.
    public init(host: String, port: Int, limits: HTTPLimits = HTTPLimits(), delegate: Delegate) {
        (self.host, self.port, self.limits, self.delegate) = (host, port, limits, delegate)
    }

    /// Listens from now on.
    public func start() throws(HTTPServerError) {
        listener = try Listener(host: host, port: port) { [weak self] descriptor, peer in
            self?.accept(descriptor, peer) ?? false
        }
    }

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

    private func accept(_ descriptor: Int32, _ peer: String) -> Bool {
        let connection = HTTPConnection(descriptor, peer: peer, owner: self)
        connections[ObjectIdentifier(connection)] = connection
        return connections.count < limits.connections
    }

    /// The answer to a refused message where nobody renders a better one.
    public static func plain(_ refusal: HTTPRefusal, _ head: HTTPRequestHead?, _ peer: String) -> HTTPResponse {
        HTTPResponse(
            status: refusal.status, headers: ["content-type": "text/plain; charset=utf-8"],
            body: Array((refusal.sentence + "\n").utf8))
    }
}

extension HTTPServer: HTTPConnectionOwner {
    func bodyLimit(for head: HTTPRequestHead) -> Int { delegate.bodyLimit(head) }

    var handler: Handler { delegate.handler }

    func refuse(_ refusal: HTTPRefusal, _ head: HTTPRequestHead?, from peer: String) -> HTTPResponse {
        delegate.errorResponse(refusal, head, peer)
    }

    func connectionEnded(_ connection: HTTPConnection) {
        connections[ObjectIdentifier(connection)] = nil
        listener?.resume()
        if connections.isEmpty { drained?.resolve(.success(())) }
    }
}
