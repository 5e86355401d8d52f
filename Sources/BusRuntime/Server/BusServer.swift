import BusProtocol
import EventLoop
import JSONText

/// The server's socket: one ROUTER, its frames in both directions, and its callers.
@Loop final class BusServer: TurnEnding {
    let dispatcher: RequestDispatcher
    private let socket: ZMQSocket
    private let service: ServiceName
    private let hello: [UInt8]
    private let security: BusSecurity?
    /// The socket's domain in the process's authenticator.
    private let domain: String
    private var peers: [[UInt8]: Peer] = [:]
    /// Frames of this turn by routing ID. They are sent together at its end.
    private var bundles: [(id: [UInt8], frames: FrameBundle)] = []
    private var frames = BusCounters()
    /// The last PONG without answers to questions, and its body. Most are equal to the one before.
    private var lastPong: (pong: Pong, body: [UInt8])?
    private var pauses = PauseDetector(at: MonotonicClock.now())
    /// Makes the process's report.
    var onReport: (@Loop () -> BusReport)?
    /// Called when an operator asks this process to drain.
    var onDismissal: (@Loop () -> Void)?
    var state = ServiceState.starting {
        didSet { for peer in peers.values where state != oldValue { sendPong(to: peer) } }
    }

    /// A peer that is silent for this long is forgotten. It sends a HELLO when it returns. In nanoseconds.
    private static let peerLifetime: UInt64 = 60_000_000_000

    init(_ configuration: BusConfiguration) throws(ZMQError) {
        dispatcher = RequestDispatcher(configuration)
        service = configuration.service
        hello = Bus.hello(configuration)
        security = configuration.security
        domain = "\(configuration.service)-\(configuration.instance)"
        socket = try ZMQSocket(.router)
        if let security {
            try Authenticator.shared().add(domain, security)
            try socket.secure(as: security, domain: domain)
        }
        for endpoint in configuration.bind {
            let path = endpoint.hasPrefix("ipc://") ? String(endpoint.dropFirst(6)) : nil
            if let path { try UnixSocket.prepare(path) }
            try socket.bind(endpoint)
            if let path { UnixSocket.restrict(path) }
        }
        // Only this object has the socket, which calls nothing once it is gone. A weak reference would make each count of
        // references to this object slower.
        try socket.onReadable { [unowned self] in takeTurn() }
        dispatcher.onAnswer = { [weak self] header, body, peer in self?.send(header, body, to: peer) }
    }

    /// The last endpoint, with the port that the system chose.
    var lastEndpoint: String { socket.lastEndpoint }

    var counters: BusCounters {
        var counters = frames
        counters.internalErrors = dispatcher.internalErrors
        return counters
    }

    // MARK: Frames

    /// A turn processes a bounded number of frames. The rest follow in the next turn. A refusal is cheap, so only
    /// requests that start count.
    ///
    /// - Returns: whether more frames may wait.
    private func takeTurn() -> Bool {
        lookForPause(at: MonotonicClock.now())
        let enough = dispatcher.inFlight + 32
        var (taken, mayHaveMore) = (0, true)
        while mayHaveMore, taken < 256, dispatcher.inFlight < enough {
            mayHaveMore = socket.receive { take($0, &taken) }
        }
        // Refusals are sent before the work of this turn starts.
        sendBundles()
        return mayHaveMore
    }

    private func take(_ received: Received, _ taken: inout Int) {
        taken += 1
        take(received)
    }

    /// After a pause, waiting frames are older than they look. Each sender must send a HELLO first.
    private func lookForPause(at now: UInt64) {
        guard pauses.look(at: now) else { return }
        for peer in peers.values {
            peer.becomeStranger()
            sendHello(to: peer.address.id, stranger: true)
        }
    }

    private func take(_ received: Received) {
        guard mayBeHeard(received) else { return refuseForeign(received) }
        switch received.header {
        case nil: frames.malformedFrames += 1
        case .failure(.wrongMagic)?, .failure(.tooShort)?: frames.foreignFrames += 1
        case .failure(let error)?: refuseMalformed(received, error.correlationID)
        case .success(let header)?:
            guard Int(header.bodyLength) == received.body.count else {
                return refuseMalformed(received, header.correlationID)
            }
            // Another connection may reuse a routing ID. It is the same peer only if the key is the same.
            let peer = peers[received.peer].flatMap { $0.identity == received.identity ? $0 : nil }
            peer?.heard(frameSentAt: header.sentAtMs)
            take(header, received, from: peer)
        }
    }

    // MARK: Keys

    /// Whether the key of a frame's connection is allowed now. A revoked key is refused on an open connection too.
    private func mayBeHeard(_ received: Received) -> Bool {
        guard let security else { return true }
        return security.service(of: received.identity) != nil
    }

    private func refuseForeign(_ received: Received) {
        frames.foreignFrames += 1
        security?.noteRefusal(of: received.identity)
        peers[received.peer] = nil
        guard case .success(let header)? = received.header, header.kind == .request else { return }
        let error = BusError(.callerNotAllowed, "The key of this caller is not allowed.")
        dispatcher.refuse(error, header.correlationID, to: received.returnAddress)
    }

    /// Whether the peer has the name that it gives. With keys, the allow list decides that.
    private func isTruthful(_ hello: Hello, _ identity: BusSecurity.Identity) -> Bool {
        guard let security else { return true }
        return security.service(of: identity) == hello.service
    }

    /// Called after a change of the allow list. A peer that is no longer allowed under its name must send a HELLO
    /// again, and is refused.
    func forgetRevoked() {
        peers = peers.filter { isTruthful($0.value.hello, $0.value.identity) }
    }

    private func take(_ header: FrameHeader, _ received: Received, from peer: Peer?) {
        let id = received.peer
        switch (header.kind, peer) {
        case (.hello, _): greet(received)
        case (.ping, let peer?): answer(received.body, of: peer)
        case (.goAway, let peer?) where peer.hello.service == .operator: onDismissal?()
        case (.request, let peer?) where peer.mustGreet:
            let detail = "This replica was paused, and the request may be old."
            dispatcher.refuse(BusError(.serviceUnavailable, detail, retryAfter: .milliseconds(100)), header, of: peer)
        case (.request, let peer?): dispatcher.begin(header, body: received.body, of: peer)
        case (.cancel, let peer?): dispatcher.cancel(header.correlationID, of: peer)
        case (.request, nil):
            sendHello(to: id, stranger: true)
            let detail = "A peer must send HELLO before a request."
            let error = BusError(.serviceUnavailable, detail, retryAfter: .milliseconds(100))
            dispatcher.refuse(error, header.correlationID, to: received.returnAddress)
        case (.ping, nil), (.cancel, nil): sendHello(to: id, stranger: true)
        case (.pong, _), (.reply, _), (.error, _), (.goAway, _): frames.malformedFrames += 1
        }
    }

    /// Answers a PING and what its sender asks for.
    private func answer(_ body: [UInt8], of peer: Peer) {
        let mayKnow =
            peer.hello.vouchesForPersons || [.operator, service].contains(peer.hello.service)
        guard !body.isEmpty, mayKnow else { return sendPong(to: peer) }
        guard let ping = try? WireJSON.decode(PingBody.self, from: body) else {
            frames.malformedFrames += 1
            return sendPong(to: peer)
        }
        var pong = pong
        if ping.wantsReport { pong.report = onReport?() }
        if let known = ping.answersAfter { pong.answers = dispatcher.answers.after(known, at: MonotonicClock.now()) }
        send(FrameHeader(kind: .pong), Self.body(pong), to: peer.address)
    }

    private func refuseMalformed(_ received: Received, _ correlationID: UInt64?) {
        frames.malformedFrames += 1
        guard let correlationID else { return }
        dispatcher.refuse(
            BusError(.invalidMessage, "The frame cannot be read."), correlationID, to: received.returnAddress)
    }

    private func send(_ header: FrameHeader, _ body: [UInt8], to peer: ReturnAddress) {
        var header = header
        header.bodyLength = UInt32(body.count)
        header.sentAtMs = Bus.clockMilliseconds()
        if peer.wire == .bundles {
            gather(header, body, for: peer.id)
        } else if !socket.send(header, body, to: peer.id, in: peer.wire) {
            frames.undeliverable += 1
        }
    }

    private func gather(_ header: FrameHeader, _ body: [UInt8], for id: [UInt8]) {
        if bundles.isEmpty { Loop.atEndOfTurn(self) }
        // A turn answers few callers, so a linear search is faster than hashing.
        if let place = bundles.lastIndex(where: { $0.id == id }), bundles[place].frames.hasRoom(for: body.count) {
            return bundles[place].frames.append(header, body)
        }
        var bundle = FrameBundle()
        bundle.append(header, body)
        bundles.append((id, bundle))
    }

    func endTurn() { sendBundles() }

    private func sendBundles() {
        for (id, bundle) in bundles where !socket.send(bundle, to: id) { frames.undeliverable += bundle.count }
        bundles.removeAll(keepingCapacity: true)
    }

    // MARK: Peers

    private func greet(_ received: Received) {
        let id = received.peer
        guard let hello = try? WireJSON.decode(Hello.self, from: received.body), hello.speaksOurWire else {
            frames.malformedFrames += 1
            return
        }
        guard isTruthful(hello, received.identity) else { return refuseForeign(received) }
        let known = peers[id].flatMap { $0.identity == received.identity ? $0 : nil }
        let peer =
            known ?? Peer(id: id, identity: received.identity, key: security?.key(of: received.identity), hello: hello)
        peer.greeted(hello)
        peers[id] = peer
        sendHello(to: id, stranger: false)
        sendPong(to: peer)
    }

    /// Sends the state in the oldest wire version, which everybody understands.
    ///
    /// - Parameter stranger: the receiver must send a HELLO before it is heard.
    private func sendHello(to id: [UInt8], stranger: Bool) {
        // Never before a refusal: a peer that is known again would take this for an answer and not repeat its request.
        sendBundles()
        var header = FrameHeader(kind: .hello)
        header.wantsHello = stranger
        send(header, hello, to: ReturnAddress(id: id, wire: .twoParts))
    }

    private func sendPong(to peer: Peer) {
        let pong = pong
        if pong != lastPong?.pong { lastPong = (pong, Self.body(pong)) }
        if let lastPong { send(FrameHeader(kind: .pong), lastPong.body, to: peer.address) }
    }

    private var pong: Pong { Pong(state: state, queueDepth: dispatcher.queueDepth, inFlight: dispatcher.inFlight) }

    private static func body(_ pong: Pong) -> [UInt8] { (try? WireJSON.encode(pong)) ?? [] }

    // MARK: Time and end

    /// Ends requests whose time is over, and forgets silent peers.
    func tick(now: UInt64) {
        lookForPause(at: now)
        dispatcher.tick(now: now)
        for (id, peer) in peers where now > peer.lastHeard + Self.peerLifetime { peers[id] = nil }
    }

    func announceGoAway() {
        for peer in peers.values { send(FrameHeader(kind: .goAway), [], to: peer.address) }
    }

    /// Cancels the handlers that still run. Their results are discarded.
    func close() {
        sendBundles()
        socket.close(linger: .seconds(2))
        if security != nil { try? Authenticator.shared().remove(domain) }
        dispatcher.close()
    }
}
