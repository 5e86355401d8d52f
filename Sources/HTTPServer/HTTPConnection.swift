import EventLoop

/// What a connection asks of its server.
@Loop protocol HTTPConnectionOwner: AnyObject {
    var limits: HTTPLimits { get }
    var isDraining: Bool { get }
    func bodyLimit(for head: HTTPRequestHead) -> Int
    var handler: HTTPServer.Handler { get }
    func refuse(_ refusal: HTTPRefusal, _ head: HTTPRequestHead?, from peer: String) -> HTTPResponse
    func connectionEnded(_ connection: HTTPConnection)
}

/// One client: its requests are answered one after another, and the next one is not begun before the answer to the
/// last one has left.
@Loop final class HTTPConnection {
    private enum State {
        /// Waiting for a request, or in the midst of reading one.
        case reading
        /// The handler has the request.
        case answering
        /// An answer in pieces is on its way; the promise is kept when the client took the last one.
        case sending(LoopPromise<Void>?)
        /// The answer waits for the client to take it.
        case writing(thenClose: Bool)
        /// The last answer has left; what still comes is thrown away.
        case lingering
        case closed
    }

    /// Requests sent ahead are kept up to this many bytes; the rest waits in the kernel.
    private static let aheadBytes = 65_536

    let peer: String
    private let transport: Transport
    private weak var owner: (any HTTPConnectionOwner)?
    private let limits: HTTPLimits
    private var parser: HTTPParser
    private var state = State.reading
    private var head: HTTPRequestHead?
    /// The client waits for `100 Continue`.
    private var invitesBody = false
    private var inputEnded = false
    private var deadline: Deadline
    private var timedPhase: HTTPParser.Phase?

    init(_ descriptor: Int32, peer: String, owner: any HTTPConnectionOwner) {
        self.peer = peer
        self.owner = owner
        limits = owner.limits
        parser = HTTPParser(limits: owner.limits)
        transport = Transport(descriptor)
        deadline = Deadline()
        transport.onReadable = { [weak self] in self?.readReady() }
        transport.onDrained = { [weak self] in self?.answerLeft() }
        transport.onProgress = { [weak self] in self?.outputMoved() }
        transport.onFailure = { [weak self] in self?.close() }
        deadline.onExpiry = { [weak self] in self?.expired() }
        watchPhase()
    }

    /// Nothing of a request has come and nothing of an answer is owed.
    var isIdle: Bool {
        if case .reading = state { return parser.phase == .idle }
        return false
    }

    /// Nothing was asked on it yet.
    private(set) var isNew = true

    /// Reads what has arrived and was not told of yet.
    func lookOnceMore() {
        if isIdle { readReady() }
    }

    func close() {
        if case .closed = state { return }
        if case .sending(let taken) = state { taken?.resolve(.success(())) }
        state = .closed
        deadline.cancel()
        transport.close()
        owner?.connectionEnded(self)
    }

    // MARK: Input

    private func readReady() {
        switch transport.read() {
        case .bytes(let bytes):
            if case .lingering = state { return }
            parser.append(bytes)
            if case .reading = state { return advance() }
            if parser.bufferedCount >= Self.aheadBytes { transport.wantInput(false) }
        case .end: endOfInput()
        case .nothing: return
        case .failed: close()
        }
    }

    /// The client may have closed its half only and still read: what it asked for whole is answered.
    private func endOfInput() {
        switch state {
        case .answering, .sending, .writing:
            inputEnded = true
            transport.wantInput(false)
        case .reading, .lingering, .closed: close()
        }
    }

    /// Reads on in what has arrived, until a request is complete or bytes are missing.
    private func advance() {
        do {
            while let event = try parser.next() {
                switch event {
                case .head(let head): admit(head)
                case .body(let body): return begin(body)
                }
            }
            inputEnded ? close() : watchPhase()
        } catch {
            refuse(error)
        }
    }

    private func admit(_ head: HTTPRequestHead) {
        self.head = head
        isNew = false
        parser.admit(bodyLimit: parser.awaitsBody ? owner?.bodyLimit(for: head) ?? 0 : 0)
        invitesBody = head.expectsContinue
    }

    /// Gives the phase its time; it counts from the phase's begin, not from its last byte.
    private func watchPhase() {
        if invitesBody, parser.phase == .body {
            invitesBody = false
            if parser.bufferedCount == 0 { transport.write(HTTPWriter.interim) }
        }
        guard timedPhase != parser.phase else { return }
        timedPhase = parser.phase
        switch parser.phase {
        case .idle: deadline.set(after: limits.idleTimeout)
        case .head: deadline.set(after: limits.headTimeout)
        case .body, .admission: deadline.set(after: limits.bodyTimeout)
        case .refused: deadline.cancel()
        }
    }

    private func expired() {
        switch state {
        case .reading where parser.phase != .idle: refuse(.timeout)
        case .answering: return
        case .reading, .sending, .writing, .lingering, .closed: close()
        }
    }

    // MARK: Output

    private func begin(_ body: [UInt8]) {
        guard let head else { return close() }
        deadline.cancel()
        timedPhase = nil
        state = .answering
        let request = HTTPRequest(head: head, body: body, peer: peer)
        Loop.spawn { await self.answer(request) }
    }

    private func answer(_ request: HTTPRequest) async {
        guard let owner else { return close() }
        let response = await owner.handler(request)
        guard case .answering = state else { return }
        let closes = !request.head.keepsAlive || owner.isDraining
        let bytes = HTTPWriter.bytes(of: response, to: request.head.method, closes: closes)
        guard let rest = response.rest, request.head.method != "HEAD" else { return send(bytes, thenClose: closes) }
        do {
            guard await put(bytes) else { return }
            while let piece = try await rest.next() { guard await put(HTTPWriter.chunk(piece)) else { return } }
            if case .sending = state { send(HTTPWriter.lastChunk, thenClose: closes) }
        } catch {
            close()
        }
    }

    /// Sends a piece and waits until the client took it.
    ///
    /// - Returns: whether the connection still stands.
    private func put(_ bytes: [UInt8]) async -> Bool {
        if case .closed = state { return false }
        let taken = LoopPromise<Void>()
        state = .sending(taken)
        deadline.set(after: limits.writeTimeout)
        transport.write(bytes)
        if !transport.isClosed, transport.hasPending { try? await taken.get() }
        // What the next piece is made of has its own time.
        deadline.cancel()
        guard case .sending = state else { return false }
        state = .sending(nil)
        return true
    }

    private func refuse(_ refusal: HTTPRefusal) {
        guard let owner else { return close() }
        let response = owner.refuse(refusal, head, from: peer)
        send(HTTPWriter.bytes(of: response, to: head?.method, closes: true), thenClose: true)
    }

    private func send(_ bytes: [UInt8], thenClose: Bool) {
        state = .writing(thenClose: thenClose)
        head = nil
        deadline.set(after: limits.writeTimeout)
        transport.write(bytes)
        if !transport.isClosed, !transport.hasPending { answerLeft() }
    }

    private func outputMoved() {
        switch state {
        case .writing, .sending(.some): deadline.set(after: limits.writeTimeout)
        default: return
        }
    }

    private func answerLeft() {
        if case .sending(let taken) = state { return taken?.resolve(.success(())) ?? () }
        guard case .writing(let thenClose) = state else { return }
        guard !thenClose, owner?.isDraining == false else { return linger() }
        state = .reading
        timedPhase = nil
        if !inputEnded { transport.wantInput(true) }
        advance()
    }

    /// Closing with unread input would send a reset, which can overtake the answer: listen a little longer.
    private func linger() {
        guard !inputEnded else { return close() }
        state = .lingering
        transport.endOutput()
        transport.wantInput(true)
        deadline.set(after: limits.lingerTimeout)
    }
}
