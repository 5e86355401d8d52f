import BusProtocol
import EventLoop
import JSONText

/// The answering side: one ROUTER socket, a task for each request.
@Loop final class BusServer {
    private struct Peer {
        var hello: Hello
        var lastHeard: UInt64
        var inFlight = 0
        /// The shortest way that a frame had, in ms between two clocks that have nothing to do with each other.
        var shortestWay: Int64?

        /// Milliseconds that a frame was on its way beyond the shortest way: in a queue, or before a process that stood
        /// still. Without it a process that is thawed would do what nobody waits for any more.
        mutating func delay(ofFrameSentAt sentAtMs: UInt64) -> Int64 {
            // A clock that cannot be is none.
            guard sentAtMs > 0, sentAtMs < 1 << 60 else { return 0 }
            let way = Int64(Bus.clockMilliseconds()) - Int64(sentAtMs)
            let shortest = min(shortestWay ?? way, way)
            shortestWay = shortest
            return way - shortest
        }
    }
    private struct Route: Hashable {
        let type: MessageType
        let version: UInt16
    }
    private struct JobKey: Hashable {
        let peer: [UInt8]
        let correlationID: UInt64
    }
    private struct Job {
        let context: RequestContext
        let arrived: UInt64
        /// The caller was told, or does not wait: what the handler still says is not sent.
        var isOver = false
        let task: Task<Void, any Error>
    }

    private let configuration: BusConfiguration
    private let socket: ZMQSocket
    private var endpoints: [Route: Endpoint] = [:]
    private var peers: [[UInt8]: Peer] = [:]
    private var jobs: [JobKey: Job] = [:]
    private let hello: [UInt8]
    private(set) var counters = BusCounters()
    var state = ServiceState.starting {
        didSet { for peer in peers.keys where state != oldValue { pong(peer: peer) } }
    }
    /// The end of a drain: what comes now is answered as not executed.
    var refusesWork = false
    /// Called when there is work, which has deadlines to look at.
    var onWork: (@Loop () -> Void)?

    /// A peer that said nothing for so long is forgotten; it greets again when it comes back. Nanoseconds.
    private static let peerLifetime: UInt64 = 60_000_000_000

    init(_ configuration: BusConfiguration) throws(ZMQError) {
        self.configuration = configuration
        hello = Bus.hello(configuration)
        socket = try ZMQSocket(.router)
        for endpoint in configuration.bind {
            let path = endpoint.hasPrefix("ipc://") ? String(endpoint.dropFirst(6)) : nil
            if let path { try UnixSocket.prepare(path) }
            try socket.bind(endpoint)
            if let path { UnixSocket.restrict(path) }
        }
        socket.onReadable { [weak self] in self?.takeTurn() }
    }

    /// Where the last endpoint really listens, with the port that the system chose.
    var lastEndpoint: String { socket.lastEndpoint }
    var inFlight: Int { jobs.count }

    func register(_ endpoint: Endpoint, type: MessageType, version: UInt16) {
        endpoints[Route(type: type, version: version)] = endpoint
    }

    /// A turn takes a bounded share; what is left is taken in the next.
    private func takeTurn() {
        for _ in 0..<256 {
            guard let received = socket.receive() else { return }
            take(received)
        }
    }

    private func take(_ received: Received) {
        let peer = received.peer
        switch received.header {
        case nil: counters.malformedFrames += 1
        case .failure(.wrongMagic)?, .failure(.tooShort)?: counters.foreignFrames += 1
        case .failure(let error)?: refuseMalformed(peer, error.correlationID)
        case .success(let header)?:
            guard Int(header.bodyLength) == received.body.count else {
                return refuseMalformed(peer, header.correlationID)
            }
            peers[peer]?.lastHeard = MonotonicClock.now()
            var header = header
            let delay = peers[peer]?.delay(ofFrameSentAt: header.sentAtMs) ?? 0
            header.budgetMs -= UInt32(clamping: min(delay, Int64(header.budgetMs)))
            take(header, received.body, peer)
        }
    }

    private func take(_ header: FrameHeader, _ body: [UInt8], _ peer: [UInt8]) {
        switch header.kind {
        case .hello: greet(peer: peer, body: body)
        case .ping: pong(peer: peer)
        case .request: begin(header, body: body, peer: peer)
        case .cancel: end(JobKey(peer: peer, correlationID: header.correlationID), nil)
        case .pong, .reply, .error, .goAway: counters.malformedFrames += 1
        }
    }

    private func refuseMalformed(_ peer: [UInt8], _ correlationID: UInt64?) {
        counters.malformedFrames += 1
        guard let correlationID else { return }
        send(error: BusError(.invalidMessage, "The frame cannot be read."), to: peer, correlationID, nil)
    }

    // MARK: Peers

    private func greet(peer: [UInt8], body: [UInt8]) {
        guard (try? JSONDocument(body)) != nil, let hello = try? WireJSON.decode(Hello.self, from: body),
            hello.speaksOurWire
        else {
            counters.malformedFrames += 1
            return
        }
        if peers[peer] == nil {
            peers[peer] = Peer(hello: hello, lastHeard: MonotonicClock.now())
        } else {
            peers[peer]?.hello = hello
            peers[peer]?.shortestWay = nil
        }
        sendHello(to: peer)
        pong(peer: peer)
    }

    /// - Parameter stranger: it must greet (anew) before it is heard.
    private func sendHello(to peer: [UInt8], stranger: Bool = false) {
        var header = FrameHeader(kind: .hello)
        header.wantsHello = stranger
        send(header, hello, to: peer)
    }

    private func pong(peer: [UInt8]) {
        guard peers[peer] != nil else { return sendHello(to: peer, stranger: true) }
        let body = (try? WireJSON.encode(Pong(state: state, inFlight: jobs.count))) ?? []
        send(FrameHeader(kind: .pong), body, to: peer)
    }

    private func send(_ header: FrameHeader, _ body: [UInt8], to peer: [UInt8]) {
        var header = header
        header.bodyLength = UInt32(body.count)
        header.sentAtMs = Bus.clockMilliseconds()
        if !socket.send(header, body, to: peer) { counters.undeliverable += 1 }
    }

    // MARK: Requests

    private func begin(_ header: FrameHeader, body: [UInt8], peer: [UInt8]) {
        let arrived = MonotonicClock.now()
        let endpoint = header.messageType.flatMap { endpoints[Route(type: $0, version: header.messageVersion)] }
        func refuse(_ error: BusError) {
            counters.count(endpoint == nil ? nil : header.messageType, code: error.code)
            send(error: error, to: peer, header.correlationID, hints(since: arrived))
        }
        guard let caller = peers[peer]?.hello else {
            sendHello(to: peer, stranger: true)
            return refuse(
                BusError(.serviceUnavailable, "A peer says HELLO before it asks.", retryAfter: .milliseconds(100)))
        }
        if let error = refusal(of: header, body, from: peer, caller, endpoint) { return refuse(error) }
        let key = JobKey(peer: peer, correlationID: header.correlationID)
        guard let type = header.messageType, let messageID = header.messageID, let endpoint, jobs[key] == nil else {
            return refuse(BusError(.invalidMessage, "A request has a message id and a free correlation id."))
        }
        let context = RequestContext(
            messageID: messageID, type: type, caller: caller.service,
            actor: caller.vouchesForPersons ? header.actor : nil,
            clientAddress: caller.vouchesForPersons ? header.clientAddress : nil,
            idempotencyKey: header.idempotencyKey,
            trace: header.traceparent.flatMap { TraceContext(traceparent: $0) }?.child() ?? .fresh(),
            deadline: arrived + UInt64(header.budgetMs) * 1_000_000, body: body)
        let task = Loop.spawn { [self] in await run(endpoint, context, key) }
        jobs[key] = Job(context: context, arrived: arrived, task: task)
        peers[peer]?.inFlight += 1
        onWork?()
    }

    /// Why a request is not begun; nothing of its body is looked at.
    private func refusal(
        of header: FrameHeader, _ body: [UInt8], from peer: [UInt8], _ caller: Hello, _ endpoint: Endpoint?
    ) -> BusError? {
        guard let rules = endpoint?.rules else {
            return BusError(.unknownMessage, "This service does not know this message.")
        }
        guard rules.callers.contains(caller.service) else {
            return BusError(.callerNotAllowed, "This service does not take this message from this caller.")
        }
        guard body.count <= rules.largestBody else {
            return BusError(.invalidMessage, "The message is larger than \(rules.largestBody) bytes.")
        }
        guard header.budgetMs > 0 else {
            return BusError(.deadlineExceeded, "The time for this request was over before it began.")
        }
        guard !refusesWork else {
            return BusError(.serviceUnavailable, "This replica is stopping.", retryAfter: .seconds(1))
        }
        guard jobs.count < configuration.largestLoad, peers[peer]?.inFlight ?? 0 < configuration.credit else {
            return BusError(.overloaded, "The service is busy. Please try again.", retryAfter: .seconds(1))
        }
        return nil
    }

    private func run(_ endpoint: Endpoint, _ context: RequestContext, _ key: JobKey) async {
        var outcome: Result<[UInt8], BusError>
        do {
            outcome = .success(try await endpoint.answer(context))
        } catch let error as any BusErrorConvertible {
            outcome = .failure(error.busError)
        } catch is CancellationError {
            outcome = .failure(BusError(.deadlineExceeded, "The request took too long.", executed: .unknown))
        } catch {
            counters.internalErrors += 1
            onInternalError?(context, error)
            outcome = .failure(BusError(.internalError, "Something went wrong on our side.", executed: .unknown))
        }
        end(key, outcome)
        jobs[key] = nil
    }

    /// Answers the caller, once; `nil` where nobody waits.
    private func end(_ key: JobKey, _ outcome: Result<[UInt8], BusError>?) {
        guard let job = jobs[key], !job.isOver else { return }
        jobs[key]?.isOver = true
        peers[key.peer]?.inFlight -= 1
        switch outcome {
        case .success(let body)?:
            counters.count(job.context.type, code: "ok")
            var header = FrameHeader(kind: .reply, correlationID: key.correlationID)
            header.isReplay = job.context.isReplay
            header.hints = hints(since: job.arrived)
            send(header, body, to: key.peer)
        case .failure(let error)?:
            counters.count(job.context.type, code: error.code)
            send(
                error: error, to: key.peer, key.correlationID, hints(since: job.arrived),
                isReplay: job.context.isReplay)
            job.task.cancel()
        case nil:
            counters.count(job.context.type, code: "cancelled")
            job.task.cancel()
        }
    }

    /// Told of every error that has no words for the wire; it must not log more than the error's type.
    var onInternalError: (@Loop (RequestContext, any Error) -> Void)?

    private func hints(since arrived: UInt64) -> FrameHeader.Hints {
        let microseconds = (MonotonicClock.now() - arrived) / 1000
        return .init(inFlight: UInt32(jobs.count), handlerMicroseconds: UInt32(clamping: microseconds))
    }

    private func send(
        error: BusError, to peer: [UInt8], _ correlationID: UInt64, _ hints: FrameHeader.Hints?, isReplay: Bool = false
    ) {
        var header = FrameHeader(kind: .error, correlationID: correlationID)
        header.hints = hints
        header.isReplay = isReplay
        send(header, (try? WireJSON.encode(error)) ?? [], to: peer)
    }

    // MARK: Time and end

    /// Ends what is too late and forgets peers that went silently.
    func tick(now: UInt64) {
        for (key, job) in jobs where !job.isOver && job.context.deadline <= now {
            end(key, .failure(BusError(.deadlineExceeded, "The request took too long.", executed: .unknown)))
        }
        for (id, peer) in peers where now - min(now, peer.lastHeard) > Self.peerLifetime { peers[id] = nil }
    }

    func announceGoAway() {
        for peer in peers.keys { send(FrameHeader(kind: .goAway), [], to: peer) }
    }

    /// Handlers that still run are told, and nobody hears what they say.
    func close() {
        socket.close(linger: .seconds(2))
        for job in jobs.values { job.task.cancel() }
    }
}
