import BusProtocol
import EventLoop
import JSONText

/// The answering side: one ROUTER socket, a task for each request.
@Loop final class BusServer {
    private struct Peer {
        var hello: Hello
        var lastHeard: UInt64
    }
    private struct JobKey: Hashable {
        let peer: [UInt8]
        let correlationID: UInt64
    }
    private struct Job {
        let task: Task<Void, any Error>
        let deadline: UInt64
    }

    private let configuration: BusConfiguration
    private let socket: ZMQSocket
    private var endpoints: [String: Endpoint] = [:]
    private var peers: [[UInt8]: Peer] = [:]
    private var jobs: [JobKey: Job] = [:]
    private(set) var counters = BusCounters()
    var state = ServiceState.starting

    /// A peer that said nothing for so long is forgotten; it greets again when it comes back. Nanoseconds.
    private static let peerLifetime: UInt64 = 60_000_000_000

    init(_ configuration: BusConfiguration) throws(ZMQError) {
        self.configuration = configuration
        socket = try ZMQSocket(.router)
        for endpoint in configuration.bind {
            if endpoint.hasPrefix("ipc://") { _ = UnixSocket.removeIfRefused(String(endpoint.dropFirst(6))) }
            try socket.bind(endpoint)
            if endpoint.hasPrefix("ipc://") { UnixSocket.restrict(String(endpoint.dropFirst(6))) }
        }
        socket.onReadable { [unowned self] in takeTurn() }
    }

    /// Where the last endpoint really listens, with the port that the system chose.
    var lastEndpoint: String { socket.lastEndpoint }
    var inFlight: Int { jobs.count }

    func register(_ endpoint: Endpoint, type: MessageType, version: UInt16) {
        endpoints["\(type)/\(version)"] = endpoint
    }

    /// A turn takes a bounded share; what is left is taken in the next.
    private func takeTurn() {
        for _ in 0..<256 {
            guard let parts = socket.receive() else { return }
            take(parts)
        }
    }

    private func take(_ parts: [[UInt8]]) {
        guard parts.count == 3 else {
            counters.malformedFrames += 1
            return
        }
        let header: FrameHeader
        switch FrameHeader.decoded(parts[1]) {
        case .success(let decoded): header = decoded
        case .failure(let error): return refuseMalformed(peer: parts[0], correlationID: error.correlationID)
        }
        guard Int(header.bodyLength) == parts[2].count else {
            return refuseMalformed(peer: parts[0], correlationID: header.correlationID)
        }
        peers[parts[0]]?.lastHeard = MonotonicClock.now()
        switch header.kind {
        case .hello: greet(peer: parts[0], body: parts[2])
        case .ping: pong(peer: parts[0])
        case .request: begin(header, body: parts[2], peer: parts[0])
        case .cancel: jobs[JobKey(peer: parts[0], correlationID: header.correlationID)]?.task.cancel()
        case .pong, .reply, .error, .goAway: counters.malformedFrames += 1
        }
    }

    private func refuseMalformed(peer: [UInt8], correlationID: UInt64?) {
        counters.malformedFrames += 1
        guard let correlationID else { return }
        send(error: BusError(.invalidMessage, "The frame cannot be read."), to: peer, correlationID, nil)
    }

    // MARK: Peers

    private func greet(peer: [UInt8], body: [UInt8]) {
        guard let hello = try? WireJSON.decode(Hello.self, from: body), hello.wire.count == 2,
            hello.wire[0] <= 1, hello.wire[1] >= 1
        else {
            counters.malformedFrames += 1
            return
        }
        peers[peer] = Peer(hello: hello, lastHeard: MonotonicClock.now())
        sendHello(to: peer)
        pong(peer: peer)
    }

    private func sendHello(to peer: [UInt8]) { send(.hello, body: Bus.hello(configuration), to: peer) }

    private func pong(peer: [UInt8]) {
        // Who was not greeted is a stranger to this process: it is told who answers here, and greets anew.
        guard peers[peer] != nil else { return sendHello(to: peer) }
        let body = (try? WireJSON.encode(Pong(state: state, inFlight: jobs.count))) ?? []
        send(.pong, body: body, to: peer)
    }

    private func send(_ kind: FrameKind, body: [UInt8], to peer: [UInt8]) {
        var header = FrameHeader(kind: kind, bodyLength: UInt32(body.count))
        header.sentAtMs = Bus.wallMilliseconds()
        if !socket.send(peer, header.encoded(), body) { counters.undeliverable += 1 }
    }

    // MARK: Requests

    private func begin(_ header: FrameHeader, body: [UInt8], peer: [UInt8]) {
        let arrived = MonotonicClock.now()
        func refuse(_ error: BusError) {
            counters.count(header.messageType, code: error.code)
            send(error: error, to: peer, header.correlationID, hints(since: arrived))
        }
        guard let caller = peers[peer]?.hello else {
            return refuse(BusError(.callerNotAllowed, "A peer says HELLO before it asks."))
        }
        guard let type = header.messageType, let messageID = header.messageID,
            let endpoint = endpoints["\(type)/\(header.messageVersion)"]
        else { return refuse(BusError(.unknownMessage, "This service does not know this message.")) }
        guard endpoint.rules.callers.contains(caller.service) else {
            return refuse(
                BusError(.callerNotAllowed, "This service does not take this message from \(caller.service)."))
        }
        guard body.count <= endpoint.rules.largestBody else {
            return refuse(BusError(.invalidMessage, "The message is larger than \(endpoint.rules.largestBody) bytes."))
        }
        guard header.budgetMs > 0 else {
            return refuse(BusError(.deadlineExceeded, "The time for this request was over before it began."))
        }
        guard state != .draining else {
            return refuse(BusError(.serviceUnavailable, "This replica is stopping.", retryAfter: .seconds(1)))
        }
        guard jobs.count < configuration.largestLoad else {
            return refuse(BusError(.overloaded, "The service is busy. Please try again.", retryAfter: .seconds(1)))
        }
        let isGateway = caller.service == .gateway
        let context = RequestContext(
            messageID: messageID, type: type, caller: caller.service, actor: isGateway ? header.actor : nil,
            clientAddress: isGateway ? header.clientAddress : nil, idempotencyKey: header.idempotencyKey,
            trace: header.traceparent.flatMap { TraceContext(traceparent: $0) }?.child() ?? .fresh(),
            deadline: arrived + UInt64(header.budgetMs) * 1_000_000, body: body)
        let key = JobKey(peer: peer, correlationID: header.correlationID)
        guard jobs[key] == nil else { return refuse(BusError(.invalidMessage, "The correlation id is in use.")) }
        let task = Loop.spawn { [self] in await run(endpoint, context, key, arrived) }
        jobs[key] = Job(task: task, deadline: context.deadline)
    }

    private func run(_ endpoint: Endpoint, _ context: RequestContext, _ key: JobKey, _ arrived: UInt64) async {
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
        jobs[key] = nil
        switch outcome {
        case .success(let body):
            counters.count(context.type, code: "ok")
            var header = FrameHeader(
                kind: .reply, correlationID: key.correlationID, bodyLength: UInt32(body.count))
            header.isReplay = context.isReplay
            header.hints = hints(since: arrived)
            header.sentAtMs = Bus.wallMilliseconds()
            if !socket.send(key.peer, header.encoded(), body) { counters.undeliverable += 1 }
        case .failure(let error):
            counters.count(context.type, code: error.code)
            send(error: error, to: key.peer, key.correlationID, hints(since: arrived), isReplay: context.isReplay)
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
        let body = (try? WireJSON.encode(error)) ?? []
        var header = FrameHeader(kind: .error, correlationID: correlationID, bodyLength: UInt32(body.count))
        header.hints = hints
        header.isReplay = isReplay
        header.sentAtMs = Bus.wallMilliseconds()
        if !socket.send(peer, header.encoded(), body) { counters.undeliverable += 1 }
    }

    // MARK: Time and end

    /// Cancels what nobody waits for any more and forgets peers that went silently.
    func tick(now: UInt64) {
        for job in jobs.values where job.deadline <= now { job.task.cancel() }
        for (id, peer) in peers where now - min(now, peer.lastHeard) > Self.peerLifetime { peers[id] = nil }
    }

    func announceGoAway() {
        for peer in peers.keys { send(.goAway, body: [], to: peer) }
    }

    func close() { socket.close(linger: .seconds(2)) }
}
