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
    private var searches: [Task<Void, any Error>] = []
    private let made = MonotonicClock.now()

    /// Told to every caller at once and in each PONG: only a ready process is asked.
    public var state = ServiceState.starting {
        didSet { server?.state = state }
    }

    /// Told of every error of a handler that has no words for the wire, with nothing personal in what it may log.
    public var onInternalError: (@Loop (RequestContext, any Error) -> Void)? {
        didSet { server?.dispatcher.onInternalError = onInternalError }
    }

    /// Told of every request that an operator made as one, before it is begun.
    public var onOperatorCall: (@Loop (MessageType, Identifier) -> Void)? {
        didSet { server?.dispatcher.onOperatorCall = onOperatorCall }
    }

    /// Told of every request that was answered here, with its code (`ok` for a reply) and how long it took.
    public var onAnswered: (@Loop (RequestContext, String, Duration) -> Void)? {
        didSet { server?.dispatcher.onAnswered = onAnswered }
    }

    /// Told when an operator wants this process to drain and to end.
    public var onDismissal: (@Loop () -> Void)? {
        didSet { server?.onDismissal = onDismissal }
    }

    public init(_ configuration: BusConfiguration) { self.configuration = configuration }

    /// Answers `Handler.Request` from now on. A type without a handler is answered `unknown_message`.
    public func register(_ handler: some RequestHandler) { register(handler, as: Endpoint(handler)) }

    private func register<Handler: RequestHandler>(_ handler: Handler, as endpoint: Endpoint) {
        registered.append((endpoint, Handler.Request.type, Handler.Request.version))
        server?.dispatcher.register(endpoint, type: Handler.Request.type, version: Handler.Request.version)
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
            server.dispatcher.onInternalError = onInternalError
            server.dispatcher.onAnswered = onAnswered
            server.dispatcher.onOperatorCall = onOperatorCall
            server.dispatcher.onWork = { [weak self] in self?.hurry() }
            server.onReport = { [weak self] in self?.report ?? BusReport() }
            server.onDismissal = onDismissal
            for (endpoint, type, version) in registered {
                server.dispatcher.register(endpoint, type: type, version: version)
            }
            self.server = server
        }
        if let security = configuration.security {
            security.onChange = { [weak self] in self?.keysChanged() }
            searches.append(Loop.spawn { await security.follow() })
        }
        for (service, discovery) in configuration.peers {
            let pool = ReplicaPool(service: service, discovery: discovery, configuration: configuration)
            pools[service] = pool
            searches.append(Loop.spawn { await pool.discover() })
        }
        tick()
    }

    private func keysChanged() {
        server?.forgetRevoked()
        for pool in pools.values { pool.keysChanged() }
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
        let reply = try await callRaw(
            type: Request.type, version: Request.version, rules: Request.rules, body: request.jsonBytes, options)
        do {
            return try Request.Reply(json: JSONDocument(reply.body).root)
        } catch {
            throw BusError(.internalError, "The answer cannot be read.", executed: .yes)
        }
    }

    /// As ``call(_:_:)``, with bodies that nobody looks at here.
    public func callRaw(
        type: MessageType, version: UInt16, rules: MessageRules, body: [UInt8], _ options: CallOptions
    ) async throws(BusError) -> RawReply {
        guard let pool = pools[rules.service] else { throw .unavailable(executed: .no) }
        var header = FrameHeader(kind: .request, bodyLength: UInt32(clamping: body.count))
        header.messageType = type
        header.messageVersion = version
        header.messageID = options.messageID
        header.idempotencyKey = options.idempotencyKey
        header.traceparent = options.trace.traceparent
        header.actor = options.actor
        header.clientAddress = options.clientAddress
        header.accessToken = options.accessToken
        header.isAsOperator = options.isAsOperator
        guard header.isWritable, body.count <= rules.largestBody else {
            throw BusError(.invalidMessage, "The message is too large, or a part of its header is malformed.")
        }
        let deadline = MonotonicClock.now() + options.timeout.nanoseconds
        let mayRepeat = rules.effect != .once || options.idempotencyKey != nil
        let call = Call(header, body: body, mayRepeat: mayRepeat, deadline: deadline, pool.meter(of: type, version))
        pool.submit(call)
        hurry()
        let outcome = await withTaskCancellationHandler {
            await call.outcome()
        } onCancel: {
            Loop.spawn { await pool.cancel(call) }
        }
        return try outcome.get()
    }

    // MARK: Sight

    /// Whether a ready replica of the service is known.
    public func hasReadyReplica(of service: ServiceName) -> Bool { pools[service]?.hasReady ?? false }

    /// Why no replica of the service takes requests; `nil` where one does.
    public func absence(of service: ServiceName) -> ServiceAbsence? {
        if let pool = pools[service] { pool.absence } else { .notFound }
    }

    /// What this process knows of the replicas of a service.
    public func replicas(of service: ServiceName) -> [ReplicaState] { pools[service]?.states ?? [] }

    /// Asked for what goes into reports beside the bus's own figures.
    public var gauges: (@Loop () -> [String: Double])?

    /// What this process saw and did since it was made.
    public var report: BusReport {
        var report = BusReport()
        report.uptimeMs = Int64((MonotonicClock.now() - made) / 1_000_000)
        report.served = (server?.dispatcher.served ?? []).inOrder
        report.asked = pools.values.flatMap(\.asked).inOrder
        report.fates = pools.values.map(\.fates).sorted { $0.service.rawValue < $1.service.rawValue }
        report.counters = server?.counters ?? BusCounters()
        report.gauges = gauges?()
        return report
    }

    /// What each replica of a service tells of itself, `nil` for one that does not in time. Only operators,
    /// gateways and the service itself are told.
    public func reports(of service: ServiceName, within limit: Duration) async -> [(ReplicaState, BusReport?)] {
        await pools[service]?.reports(within: limit) ?? []
    }

    /// Requests that are being handled here.
    public var inFlight: Int { server?.dispatcher.inFlight ?? 0 }

    // MARK: Time

    /// Looks at deadlines each 10 ms while there are any, otherwise each 100 ms.
    private func tick() {
        guard !isStopped else { return }
        let now = MonotonicClock.now()
        server?.tick(now: now)
        for pool in pools.values { pool.tick(now: now) }
        tickIsFast = (server?.dispatcher.inFlight ?? 0) > 0 || pools.values.contains { $0.isBusy }
        timer = LoopTimer(after: tickIsFast ? BusTiming.tick : .milliseconds(100)) { [weak self] in self?.tick() }
    }

    private func hurry() {
        guard !tickIsFast, !isStopped else { return }
        tickIsFast = true
        timer?.cancel()
        timer = LoopTimer(after: BusTiming.tick) { [weak self] in self?.tick() }
    }

    // MARK: End

    /// Says that it goes, serves for as long as the others need to hear it, refuses what comes then, finishes what is in
    /// hand (5 s at the most) and closes.
    ///
    /// - Parameter finish: ends what else makes calls, while it still can.
    public func drain(
        notice: Duration = .milliseconds(500), finish: @escaping @Loop @Sendable () async -> Void = {}
    ) async {
        guard !isStopped else { return await finish() }
        state = .draining
        if let server {
            server.announceGoAway()
            try? await Loop.sleep(for: notice)
            server.dispatcher.refusesWork = true
            let end = MonotonicClock.now() + Duration.seconds(5).nanoseconds
            let finishing = Loop.spawn { await finish() }
            while inFlight > 0, MonotonicClock.now() < end { try? await Loop.sleep(for: .milliseconds(5)) }
            _ = await finishing.result
        } else {
            await finish()
        }
        stop()
        // The last answers leave on libzmq's own thread, which a process that exits at once takes with it.
        try? await Loop.sleep(for: .milliseconds(20))
    }

    /// Closes at once; what is in flight is lost to both sides.
    public func stop() {
        guard !isStopped else { return }
        isStopped = true
        timer?.cancel()
        for search in searches { search.cancel() }
        server?.close()
        for pool in pools.values { pool.close() }
    }

    static func hello(_ configuration: BusConfiguration) -> [UInt8] {
        (try? WireJSON.encode(Hello(configuration))) ?? []
    }

    /// The time that frames carry.
    nonisolated static func clockMilliseconds() -> UInt64 { MonotonicClock.now() / 1_000_000 }
}

extension [Traffic] {
    fileprivate var inOrder: [Traffic] {
        sorted { ($0.message, $0.partner.rawValue) < ($1.message, $1.partner.rawValue) }
    }
}
