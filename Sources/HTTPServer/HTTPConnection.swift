import EventLoop

/// The functions of the server that a connection needs.
@Loop protocol HTTPConnectionOwner: AnyObject {
    var limits: HTTPLimits { get }
    var isDraining: Bool { get }
    func admission(of head: HTTPRequestHead, from peer: String) -> BodyAdmission
    var handler: HTTPServer.Handler { get }
    func refuse(_ refusal: HTTPRefusal, _ head: HTTPRequestHead?, from peer: String) -> HTTPResponse
    /// A connection waits for its client, so a new connection may replace it.
    func connectionWaits()
    func connectionEnded(_ connection: HTTPConnection)
}

/// The connection of one client. It reads the next request only after the response to the last one was sent.
@Loop final class HTTPConnection {
    private enum State {
        /// Waiting for a request, or reading one.
        case reading
        /// Checking whether to read the body.
        case admitting
        /// An upload takes a part of the body.
        case passing
        /// The handler is working on the request.
        case answering
        /// Sending a response in parts. The promise resolves when the client has taken the last part.
        case sending(LoopPromise<Void>?)
        /// Waiting for the client to take the response.
        case writing(thenClose: Bool)
        /// The last response was sent. Further input is discarded.
        case lingering
        case closed
    }

    /// The most bytes of pipelined requests that are read ahead. The rest waits in the kernel.
    private static let aheadBytes = 65_536
    /// The largest body, in bytes, that is copied to be sent together with its head.
    private static let copiedBytes = 16_384

    let peer: String
    let shares: [ConnectionShare]
    private var places: [ConnectionGroup.Place] = []
    private let transport: Transport
    /// `nil` once the connection is closed.
    private var owner: (any HTTPConnectionOwner)?
    private let limits: HTTPLimits
    private var parser: HTTPParser
    private var state = State.reading
    private var head: HTTPRequestHead?
    /// The receiver of the request's body while it arrives.
    private var upload: (any HTTPUpload)?
    /// Whether the client waits for `100 Continue`.
    private var invitesBody = false
    private var inputEnded = false
    private var deadline: Deadline
    private var timedPhase: HTTPParser.Phase?

    /// - Parameters:
    ///   - shares: the shares of the client's address.
    ///   - groups: the groups that count the connection until it is closed.
    init(
        _ descriptor: Int32, peer: String, shares: [ConnectionShare], groups: [ConnectionGroup],
        owner: any HTTPConnectionOwner
    ) {
        (self.peer, self.shares, self.owner) = (peer, shares, owner)
        limits = owner.limits
        parser = HTTPParser(limits: owner.limits)
        transport = Transport(descriptor)
        deadline = Deadline()
        // Only this object has the transport and the deadline, and they call nothing once it is gone. A weak reference
        // would make each count of references to this object slower.
        transport.onReadable = { [unowned self] in readReady() }
        transport.onDrained = { [unowned self] in answerLeft() }
        transport.onProgress = { [unowned self] in outputMoved() }
        transport.onFailure = { [unowned self] in close() }
        deadline.onExpiry = { [unowned self] in expired() }
        places = groups.map { ConnectionGroup.Place(of: self, in: $0) }
        waitForClient()
        watchPhase()
    }

    /// Marks the connection as waiting for its client.
    private func waitForClient() {
        for place in places { place.wait() }
        owner?.connectionWaits()
    }

    /// Marks the connection as not waiting for its client.
    private func work() { for place in places { place.stopWaiting() } }

    /// Whether no part of a request has arrived and no response is due.
    var isIdle: Bool {
        if case .reading = state { return parser.phase == .idle }
        return false
    }

    /// Whether no request has arrived on this connection yet.
    private(set) var isNew = true

    /// Reads input that has arrived but that the loop has not reported yet.
    func lookOnceMore() {
        if isIdle { readReady() }
    }

    func close() {
        if case .closed = state { return }
        if case .sending(let taken) = state { taken?.resolve(.success(())) }
        state = .closed
        deadline.cancel()
        transport.close()
        for place in places { place.leave() }
        owner?.connectionEnded(self)
        owner = nil
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

    /// Handles the end of input. The client may still read, so a complete request gets its response.
    private func endOfInput() {
        switch state {
        case .admitting, .passing, .answering, .sending, .writing:
            inputEnded = true
            transport.wantInput(false)
        case .reading, .lingering, .closed: close()
        }
    }

    /// Parses the input until a request is complete or bytes are missing.
    private func advance() {
        do {
            while let event = try parser.next() {
                switch event {
                case .head(let head): guard admit(head) else { return }
                case .part(let part): return pass(part)
                case .body(let body): return begin(body)
                }
            }
            inputEnded ? close() : watchPhase()
        } catch {
            refuse(error)
        }
    }

    /// - Returns: whether the body may be read now.
    private func admit(_ head: HTTPRequestHead) -> Bool {
        self.head = head
        isNew = false
        invitesBody = head.expectsContinue
        guard parser.awaitsBody, let owner else {
            parser.admit(bodyLimit: 0)
            return true
        }
        switch owner.admission(of: head, from: peer) {
        case .read(let limit):
            parser.admit(bodyLimit: limit)
            return true
        case .check(let check, let limit):
            workFrom(.admitting)
            Loop.spawn { await self.admit(after: check, limit: limit) }
            return false
        case .upload(let upload, let limit):
            workFrom(.admitting)
            Loop.spawn { await self.admit(after: upload.begin, limit: limit, upload) }
            return false
        }
    }

    private func admit(
        after check: @Loop () async -> HTTPResponse?, limit: Int, _ upload: (any HTTPUpload)? = nil
    ) async {
        let refusal = await check()
        guard case .admitting = state else { return }
        if let refusal { return send(refusal, thenClose: true) }
        self.upload = upload
        parser.admit(bodyLimit: limit, partLength: upload == nil ? .max : HTTPServer.partLength)
        waitForClient()
        readOn()
    }

    /// Passes a part of the body on. The client's time for the body goes on meanwhile.
    private func pass(_ part: [UInt8]) {
        guard let upload else { return close() }
        invitesBody = false
        watchPhase()
        state = .passing
        Loop.spawn { await self.pass(part, to: upload) }
    }

    private func pass(_ part: [UInt8], to upload: any HTTPUpload) async {
        let refusal = await upload.take(part)
        guard case .passing = state else { return }
        if let refusal { return send(refusal, thenClose: true) }
        readOn()
    }

    private func readOn() {
        state = .reading
        if !inputEnded { transport.wantInput(true) }
        advance()
    }

    private func workFrom(_ state: State) {
        deadline.cancel()
        timedPhase = nil
        self.state = state
        work()
    }

    /// Sets the deadline of the phase. It counts from the beginning of the phase, not from the last byte.
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
        case .reading where parser.phase != .idle, .passing: refuse(.timeout)
        case .admitting, .answering: return
        case .reading, .sending, .writing, .lingering, .closed: close()
        }
    }

    // MARK: Output

    private func begin(_ body: [UInt8]) {
        guard let head else { return close() }
        workFrom(.answering)
        let request = HTTPRequest(head: head, body: body, peer: peer)
        Loop.spawn { await self.answer(request) }
    }

    private func answer(_ request: HTTPRequest) async {
        guard let owner else { return close() }
        let response = if let upload { await upload.finish(request.body) } else { await owner.handler(request) }
        guard case .answering = state else { return }
        let closes = !request.head.keepsAlive || owner.isDraining
        // RFC 9112, 6.1: HTTP/1.0 has no chunks, so the end of the connection is the end of the response.
        let framing = request.head.minorVersion == 0 ? HTTPWriter.Framing.untilClose : .chunks
        guard let rest = response.rest, request.head.method != "HEAD" else {
            return send(response, thenClose: closes, framing)
        }
        do {
            guard await put(HTTPWriter.bytes(of: response, to: request.head.method, closes: closes, framing)) else {
                return
            }
            while let piece = try await rest.next() { guard await put(framing.piece(piece)) else { return } }
            if case .sending = state { finish(framing.end, thenClose: closes) }
        } catch {
            close()
        }
    }

    /// Sends a part of the response and waits until the client has taken it.
    ///
    /// - Returns: whether the connection is still open.
    private func put(_ bytes: [UInt8]) async -> Bool {
        if case .closed = state { return false }
        let taken = LoopPromise<Void>()
        state = .sending(taken)
        deadline.set(after: limits.writeTimeout)
        transport.write(bytes)
        if !transport.isClosed, transport.hasPending {
            waitForClient()
            try? await taken.get()
            work()
        }
        // The write deadline does not hold while the next part is made.
        deadline.cancel()
        guard case .sending = state else { return false }
        state = .sending(nil)
        return true
    }

    private func refuse(_ refusal: HTTPRefusal) {
        guard let owner else { return close() }
        send(owner.refuse(refusal, head, from: peer), thenClose: true)
    }

    private func send(
        _ response: HTTPResponse, thenClose: Bool, _ framing: HTTPWriter.Framing = .chunks
    ) {
        let method = head?.method
        // A large body is not copied, so that slow clients share its memory.
        guard response.rest == nil, method != "HEAD", response.body.count > Self.copiedBytes else {
            return finish(HTTPWriter.bytes(of: response, to: method, closes: thenClose, framing), thenClose: thenClose)
        }
        let start = HTTPWriter.bytes(of: response, to: method, closes: thenClose, withBody: false)
        finish(start, response.body, thenClose: thenClose)
    }

    private func finish(_ bytes: [UInt8], _ body: [UInt8] = [], thenClose: Bool) {
        state = .writing(thenClose: thenClose)
        (head, upload) = (nil, nil)
        deadline.set(after: limits.writeTimeout)
        transport.write(bytes, then: body)
        guard !transport.isClosed else { return }
        transport.hasPending ? waitForClient() : answerLeft()
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
        timedPhase = nil
        waitForClient()
        readOn()
    }

    /// Closes later: closing with unread input sends a reset, which can reach the client before the response does.
    private func linger() {
        guard !inputEnded else { return close() }
        state = .lingering
        waitForClient()
        transport.endOutput()
        transport.wantInput(true)
        deadline.set(after: limits.lingerTimeout)
    }
}
