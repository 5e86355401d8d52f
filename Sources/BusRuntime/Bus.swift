import BusProtocol
import EventLoop
import Foundation
import JSONText

/// A process on the bus. It answers the messages that it has handlers for, and calls the replicas that it finds.
@Loop package final class Bus {
    /// The identity of this process, and the addresses of the others.
    package let configuration: BusConfiguration
    private var server: BusServer?
    private var registered: [(endpoint: Endpoint, type: MessageType, version: UInt16)] = []
    private var pools: [ServiceName: ReplicaPool] = [:]
    private var timer: LoopTimer?
    /// When the timer is due, in nanoseconds since boot.
    private var nextTick = UInt64.max
    private var isStopped = false
    private var searches: [Task<Void, any Error>] = []
    private let made = MonotonicClock.now()

    /// The state is sent to every caller at once and in each PONG. Only a ready process gets requests.
    package var state = ServiceState.starting {
        didSet { server?.state = state }
    }

    /// Called with every error of a handler that is not a bus error. Its log name contains nothing personal.
    package var onInternalError: (@Loop (RequestContext, any Error) -> Void)? {
        didSet { server?.dispatcher.onInternalError = onInternalError }
    }

    /// Called with every request that an operator sends as an operator, before it starts.
    package var onOperatorCall: (@Loop (MessageType, Identifier) -> Void)? {
        didSet { server?.dispatcher.onOperatorCall = onOperatorCall }
    }

    /// Called with every request that was answered here, its code (`ok` for a reply) and its duration.
    package var onAnswered: (@Loop (RequestContext, String, Duration) -> Void)? {
        didSet { server?.dispatcher.onAnswered = onAnswered }
    }

    /// Called when an operator asks this process to drain and stop.
    package var onDismissal: (@Loop () -> Void)? {
        didSet { server?.onDismissal = onDismissal }
    }

    /// Makes the process's side of the bus. It does nothing on the network before it is started.
    package init(_ configuration: BusConfiguration) { self.configuration = configuration }

    /// Answers `Handler.Request` from now on. A type without a handler is answered with `unknown_message`.
    package func register(_ handler: some RequestHandler) { register(handler, as: Endpoint(handler)) }

    private func register<Handler: RequestHandler>(_ handler: Handler, as endpoint: Endpoint) {
        registered.append((endpoint, Handler.Request.type, Handler.Request.version))
        server?.dispatcher.register(endpoint, type: Handler.Request.type, version: Handler.Request.version)
    }

    /// The message types with a handler here.
    package var registeredTypes: Set<MessageType> { Set(registered.map(\.type)) }

    /// Binds the endpoints and starts discovery.
    ///
    /// - Throws: ``ZMQError`` if an endpoint cannot be bound.
    package func start() throws(ZMQError) {
        if !configuration.bind.isEmpty {
            let server = try BusServer(configuration)
            server.state = state
            server.dispatcher.onInternalError = onInternalError
            server.dispatcher.onAnswered = onAnswered
            server.dispatcher.onOperatorCall = onOperatorCall
            server.dispatcher.onWork = { [weak self] in self?.look(by: $0) }
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
            pool.onWork = { [weak self] in self?.look(by: $0) }
            pools[service] = pool
            searches.append(Loop.spawn { await pool.discover() })
        }
        tick()
    }

    private func keysChanged() {
        server?.forgetRevoked()
        for pool in pools.values { pool.keysChanged() }
        look(by: 0)
    }

    /// The endpoint that this process listens on, with the port that the system chose.
    package var endpoint: String? { server?.lastEndpoint }

    // MARK: Asking

    /// Calls a replica of the service that answers `Request`.
    ///
    /// - Parameter service: the service to call, if several answer `Request`.
    /// - Throws: ``BusError`` only.
    package func call<Request: BusRequest>(
        _ request: Request, of service: ServiceName? = nil, _ options: CallOptions
    ) async throws(BusError) -> Request.Reply {
        let (call, pool) = try submit(
            type: Request.type, version: Request.version, rules: Request.rules, of: service, body: request.jsonBytes,
            options)
        await end(of: call, in: pool)
        return try Self.reply(to: call)
    }

    /// Does the same as ``call(_:_:)``, but passes both bodies on unread.
    package func callRaw(
        type: MessageType, version: UInt16, rules: MessageRules, body: [UInt8], _ options: CallOptions
    ) async throws(BusError) -> RawReply {
        let (call, pool) = try submit(type: type, version: version, rules: rules, body: body, options)
        await end(of: call, in: pool)
        return try call.reply()
    }

    private func end(of call: Call, in pool: ReplicaPool) async {
        await withTaskCancellationHandler {
            await call.end()
        } onCancel: {
            Loop.spawn { await pool.cancel(call) }
        }
    }

    // The next two functions must not be inlined into functions that wait. Otherwise each call would hold 4 KB more
    // while it waits.

    @inline(never)
    private static func reply<Reply: BusReply>(to call: Call) throws(BusError) -> Reply {
        let body = try call.reply().body
        do {
            return try Reply(json: JSONDocument(body).root)
        } catch {
            throw BusError(.internalError, "The answer cannot be read.", executed: .yes)
        }
    }

    /// Begins a call.
    @inline(never)
    private func submit(
        type: MessageType, version: UInt16, rules: MessageRules, of service: ServiceName? = nil, body: [UInt8],
        _ options: CallOptions
    ) throws(BusError) -> (Call, ReplicaPool) {
        guard let pool = pools[service ?? rules.service] else { throw .unavailable(executed: .no) }
        var header = FrameHeader(kind: .request, bodyLength: UInt32(clamping: body.count))
        header.messageType = type
        header.messageVersion = version
        header.messageID = options.messageID
        header.idempotencyKey = options.idempotencyKey
        header.traceparent = options.trace.traceparent
        header.actor = options.actor
        header.clientAddress = options.clientAddress
        header.accessToken = options.accessToken
        header.contentLanguage = options.language
        header.isAsOperator = options.isAsOperator
        guard header.isWritable, body.count <= rules.largestBody else {
            throw BusError(.invalidMessage, "The message is too large, or a part of its header is malformed.")
        }
        let deadline = MonotonicClock.now() + options.timeout.nanoseconds
        let mayRepeat = rules.effect != .once || options.idempotencyKey != nil
        let call = Call(header, body: body, mayRepeat: mayRepeat, deadline: deadline, pool.meter(of: type, version))
        pool.submit(call)
        return (call, pool)
    }

    // MARK: Report

    /// Whether the service has a ready replica.
    package func hasReadyReplica(of service: ServiceName) -> Bool { pools[service]?.hasReady ?? false }

    /// Why no replica of the service accepts requests; `nil` if one does.
    package func absence(of service: ServiceName) -> ServiceAbsence? {
        if let pool = pools[service] { pool.absence } else { .notFound }
    }

    /// The replicas of a service, as this process knows them.
    package func replicas(of service: ServiceName) -> [ReplicaState] { pools[service]?.states ?? [] }

    /// Called for the gauges that reports contain besides those of the process and the bus's own figures.
    package var gauges: (@Loop () -> [String: Double])?

    /// The counts of this process since it started.
    package var report: BusReport {
        var report = BusReport()
        report.uptimeMs = Int64((MonotonicClock.now() - made) / 1_000_000)
        report.served = (server?.dispatcher.served ?? []).inOrder
        report.asked = pools.values.flatMap(\.asked).inOrder
        report.fates = pools.values.map(\.fates).sorted { $0.service.rawValue < $1.service.rawValue }
        report.counters = server?.counters ?? BusCounters()
        report.gauges = gauges?() ?? [:]
        report.gauges?["loop_timers"] = Double(LoopTimer.waiting)
        report.gauges?["memory_in_use_bytes"] = Double(ProcessMemory.inUse)
        return report
    }

    /// The report of each replica of a service; `nil` for a replica that does not answer in time. For gateways and
    /// operators.
    package func reports(of service: ServiceName, within limit: Duration) async -> [(ReplicaState, BusReport?)] {
        await pools[service]?.reports(within: limit) ?? []
    }

    /// Requests that arrived and are not yet answered.
    package var inFlight: Int { server?.dispatcher.inFlight ?? 0 }

    // MARK: Time

    /// Checks deadlines, silences and waiting calls, at each aligned tick and at the first deadline.
    private func tick() {
        guard !isStopped else { return }
        let now = MonotonicClock.now()
        nextTick = MonotonicClock.nextTick(after: now)
        server?.tick(now: now)
        for pool in pools.values { pool.tick(now: now) }
        let deadlines = pools.values.map { $0.isWaiting ? 0 : $0.firstDeadline }
        let first = min(server?.dispatcher.firstDeadline ?? .max, deadlines.min() ?? .max)
        wake(at: min(nextTick, max(first, now + BusTiming.shortestTick)))
    }

    /// Schedules the next check for a moment at the latest, in nanoseconds since boot; 0 means as soon as a check may
    /// run.
    private func look(by moment: UInt64) {
        guard moment < nextTick, !isStopped else { return }
        let earlier = max(moment, MonotonicClock.now() + BusTiming.shortestTick)
        if earlier < nextTick { wake(at: earlier) }
    }

    private func wake(at moment: UInt64) {
        nextTick = moment
        timer?.cancel()
        timer = LoopTimer(at: moment) { [weak self] in self?.tick() }
    }

    // MARK: End

    /// Stops gracefully. It announces the end and keeps serving until the others have received the announcement. Then
    /// it refuses new requests, finishes the current ones (at most 5 s) and closes.
    ///
    /// - Parameter finish: stops the parts of the process that make calls, while calls are still possible.
    package func drain(
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
        // libzmq's own thread sends the last replies. A process that exits at once would lose them.
        try? await Loop.sleep(for: .milliseconds(20))
    }

    /// Closes at once. Requests in flight are lost for both sides.
    package func stop() {
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

    /// The time that frames carry: milliseconds since boot.
    nonisolated static func clockMilliseconds() -> UInt64 { MonotonicClock.now() / 1_000_000 }
}

extension [Traffic] {
    fileprivate var inOrder: [Traffic] {
        sorted { ($0.message, $0.partner.rawValue) < ($1.message, $1.partner.rawValue) }
    }
}
