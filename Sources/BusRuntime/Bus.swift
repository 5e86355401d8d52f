import BusProtocol
import EventLoop
import Foundation
import JSONText

/// A process on the bus: it answers what it registered handlers for, and asks the replicas that it finds.
@Loop public final class Bus {
    public let configuration: BusConfiguration
    private var server: BusServer?
    private var registered: [(endpoint: Endpoint, type: MessageType, version: UInt16)] = []
    private var pools: [ServiceName: ReplicaPool] = [:]
    private var timer: LoopTimer?
    private var tickIsFast = false
    private var isStopped = false
    private var discovery: Task<Void, any Error>?

    /// Told in each PONG: only a ready process is asked.
    public var state = ServiceState.starting {
        didSet { server?.state = state }
    }

    /// Told of every error of a handler that has no words for the wire, with nothing personal in what it may log.
    public var onInternalError: (@Loop (RequestContext, any Error) -> Void)? {
        didSet { server?.onInternalError = onInternalError }
    }

    public init(_ configuration: BusConfiguration) { self.configuration = configuration }

    /// Answers `Handler.Request` from now on. A type without a handler is answered `unknown_message`.
    public func register(_ handler: some RequestHandler) { register(handler, as: Endpoint(handler)) }

    private func register<Handler: RequestHandler>(_ handler: Handler, as endpoint: Endpoint) {
        registered.append((endpoint, Handler.Request.type, Handler.Request.version))
        server?.register(endpoint, type: Handler.Request.type, version: Handler.Request.version)
    }

    /// Every message type that has a handler here.
    public var registeredTypes: Set<MessageType> { Set(registered.map(\.type)) }

    /// Binds, and begins to look for the others.
    ///
    /// - Throws: ``ZMQError`` where an endpoint cannot be bound.
    public func start() throws(ZMQError) {
        if !configuration.bind.isEmpty {
            let server = try BusServer(configuration)
            server.state = state
            server.onInternalError = onInternalError
            for (endpoint, type, version) in registered { server.register(endpoint, type: type, version: version) }
            self.server = server
        }
        for (service, discovery) in configuration.peers {
            pools[service] = ReplicaPool(service: service, discovery: discovery, configuration: configuration)
        }
        discovery = Loop.spawn { [weak self] in await self?.discover() }
        tick()
    }

    /// Where this process listens, with the port that the system chose.
    public var endpoint: String? { server?.lastEndpoint }

    // MARK: Asking

    /// Asks a replica of the service that answers `Request`.
    ///
    /// - Throws: ``BusError`` only.
    public func call<Request: BusRequest>(
        _ request: Request, _ options: CallOptions
    ) async throws(BusError) -> Request.Reply {
        let body: [UInt8]
        do {
            body = try WireJSON.encode(request)
        } catch {
            throw BusError(.internalError, "The request cannot be written.")
        }
        let reply = try await callRaw(
            type: Request.type, version: Request.version, rules: Request.rules, body: body, options)
        do {
            return try WireJSON.decode(Request.Reply.self, from: reply.body)
        } catch {
            throw BusError(.internalError, "The answer cannot be read.", executed: .yes)
        }
    }

    /// As ``call(_:_:)``, with bodies that nobody looks at here.
    public func callRaw(
        type: MessageType, version: UInt16, rules: MessageRules, body: [UInt8], _ options: CallOptions
    ) async throws(BusError) -> RawReply {
        guard let pool = pools[rules.service] else { throw Self.unavailable(rules.service, executed: .no) }
        var header = FrameHeader(kind: .request, bodyLength: UInt32(body.count))
        header.messageType = type
        header.messageVersion = version
        header.messageID = options.messageID
        header.idempotencyKey = options.idempotencyKey
        header.traceparent = options.trace.traceparent
        header.actor = options.actor
        header.clientAddress = options.clientAddress
        let mayRepeat = rules.effect != .once || options.idempotencyKey != nil
        let deadline = MonotonicClock.now() + options.timeout.nanoseconds
        return try await call(header, body, pool, mayRepeat: mayRepeat, deadline: deadline)
    }

    private func call(
        _ header: FrameHeader, _ body: [UInt8], _ pool: ReplicaPool, mayRepeat: Bool, deadline: UInt64
    ) async throws(BusError) -> RawReply {
        var header = header
        var tried: Set<String> = []
        var failure = Self.unavailable(pool.service, executed: .no)
        hurry()
        while Int(header.attempt) <= BusTiming.mostAttempts {
            guard let replica = await pool.replica(avoiding: tried, deadline: deadline) else { throw failure }
            tried.insert(replica.endpoint)
            switch await replica.ask(header, body: body, deadline: deadline) {
            case .reply(let reply): return reply
            case .error(let error):
                let mayMove = error.executed == .no && (error.status == .unavailable || error.status == .overloaded)
                guard mayMove, pool.count > tried.count else { throw error }
                failure = error
            case .notWritten: break
            case .lost:
                failure = Self.unavailable(pool.service, executed: .unknown)
                guard mayRepeat else { throw failure }
            case .deadlineExceeded:
                throw BusError(.deadlineExceeded, "The service took too long to answer.", executed: .unknown)
            }
            header.attempt += 1
        }
        throw failure
    }

    private static func unavailable(_ service: ServiceName, executed: Executed) -> BusError {
        BusError(
            .serviceUnavailable, "This part of the service is not available right now. Please try again.",
            executed: executed, retryAfter: .seconds(1))
    }

    // MARK: Sight

    /// Whether a ready replica of the service is known.
    public func hasReadyReplica(of service: ServiceName) -> Bool { pools[service]?.hasReady ?? false }

    /// What this process knows of the replicas of a service.
    public func replicas(of service: ServiceName) -> [ReplicaState] { pools[service]?.states ?? [] }

    /// What this process answered; zeros for who only asks.
    public var counters: BusCounters { server?.counters ?? BusCounters() }
    public var inFlight: Int { server?.inFlight ?? 0 }

    // MARK: Time

    private func discover() async {
        while !isStopped {
            for pool in pools.values { await pool.discover() }
            try? await Loop.sleep(for: configuration.discoveryInterval)
        }
    }

    /// Looks at deadlines each 10 ms while there are any, otherwise each 100 ms.
    private func tick() {
        guard !isStopped else { return }
        let now = MonotonicClock.now()
        server?.tick(now: now)
        for pool in pools.values { pool.tick(now: now) }
        tickIsFast = (server?.inFlight ?? 0) > 0 || pools.values.contains { $0.isBusy }
        timer = LoopTimer(after: tickIsFast ? BusTiming.tick : .milliseconds(100)) { [weak self] in self?.tick() }
    }

    private func hurry() {
        guard !tickIsFast, !isStopped else { return }
        tickIsFast = true
        timer?.cancel()
        timer = LoopTimer(after: BusTiming.tick) { [weak self] in self?.tick() }
    }

    // MARK: End

    /// Takes no new work, finishes what is in hand (5 s at the most), then closes.
    public func drain(notice: Duration = .milliseconds(500)) async {
        server?.announceGoAway()
        try? await Loop.sleep(for: notice)
        state = .draining
        let end = MonotonicClock.now() + Duration.seconds(5).nanoseconds
        while inFlight > 0, MonotonicClock.now() < end { try? await Loop.sleep(for: .milliseconds(5)) }
        stop()
    }

    /// Closes at once; what is in flight is lost to both sides.
    public func stop() {
        guard !isStopped else { return }
        isStopped = true
        timer?.cancel()
        discovery?.cancel()
        server?.close()
        for pool in pools.values { pool.close() }
    }

    static func hello(_ configuration: BusConfiguration) -> [UInt8] {
        let hello = Hello(
            service: configuration.service, instance: configuration.instance, build: configuration.build, wire: [1, 1],
            credit: configuration.credit, heartbeatMs: 250)
        return (try? WireJSON.encode(hello)) ?? []
    }

    /// Milliseconds since 1970 by this machine's clock.
    static func wallMilliseconds() -> UInt64 { UInt64(max(0, Timestamp.now().microsecondsSinceEpoch / 1000)) }
}
