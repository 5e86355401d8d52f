import BusProtocol
import EventLoop

/// Passes each request to its handler, in its own task, and returns the answer.
@Loop final class RequestDispatcher {
    private struct Route: Hashable {
        let type: MessageType
        let version: UInt16
    }
    private struct JobKey: Hashable {
        let peer: ObjectIdentifier
        let correlationID: UInt64
    }
    /// A message type with its handler, and its counters by caller.
    @Loop private final class Registration {
        let endpoint: Endpoint
        private let route: Route
        private(set) var meters: [TrafficMeter] = []

        init(_ endpoint: Endpoint, _ route: Route) { (self.endpoint, self.route) = (endpoint, route) }

        /// There are few callers, so a linear search is faster than hashing.
        func meter(of caller: ServiceName) -> TrafficMeter {
            if let known = meters.first(where: { $0.partner == caller }) { return known }
            let meter = TrafficMeter("\(route.type)/v\(route.version)", caller)
            meters.append(meter)
            return meter
        }
    }
    /// One request, from its arrival until its handler has ended.
    @Loop private final class Job {
        let peer: Peer
        let meter: TrafficMeter
        let correlationID: UInt64
        let context: RequestContext
        /// When it was read, in nanoseconds.
        let arrived: UInt64
        /// How many requests waited before it then.
        let ahead: Int
        /// When it would have been read without any delay.
        let due: UInt64
        var hasBegun = false
        var task: Task<Void, any Error>?
        /// The caller has its answer or no longer waits. The handler's result is discarded.
        var isOver = false

        init(
            _ peer: Peer, _ meter: TrafficMeter, _ correlationID: UInt64, _ context: RequestContext, arrived: UInt64,
            ahead: Int
        ) {
            (self.peer, self.meter, self.correlationID, self.context) = (peer, meter, correlationID, context)
            (self.arrived, self.ahead, due) = (arrived, ahead, arrived - peer.delay)
        }

        var key: JobKey { JobKey(peer: ObjectIdentifier(peer), correlationID: correlationID) }
    }

    private let configuration: BusConfiguration
    private var registrations: [Route: Registration] = [:]
    /// The counters of messages without a handler, by caller.
    private var unknown: [ServiceName: TrafficMeter] = [:]
    private var jobs: [JobKey: Job] = [:]
    /// The newest answers, for an operator who watches.
    var answers = AnswerLog()
    private(set) var internalErrors = 0
    private var admission = AdmissionController()
    /// Requests that wait for their handlers to start.
    private(set) var queueDepth = 0
    /// The last phase of a drain: new requests are answered as not executed.
    var refusesWork = false
    /// Called with the deadline of each request that begins.
    var onWork: (@Loop (UInt64) -> Void)?
    /// Called with every error that is not a bus error. It must log no more than the error's type.
    var onInternalError: (@Loop (RequestContext, any Error) -> Void)?
    /// Called with every request that an operator sends as an operator.
    var onOperatorCall: (@Loop (MessageType, Identifier) -> Void)?
    /// Called with every answered request, its code (`ok` for a reply) and its duration.
    var onAnswered: (@Loop (RequestContext, String, Duration) -> Void)?
    /// Sends an answer.
    var onAnswer: (@Loop (FrameHeader, [UInt8], ReturnAddress) -> Void)?

    init(_ configuration: BusConfiguration) { self.configuration = configuration }

    var inFlight: Int { jobs.count }

    /// The first deadline of the requests that are not answered yet, in nanoseconds since boot.
    var firstDeadline: UInt64 {
        jobs.values.lazy.filter { !$0.isOver }.map(\.context.deadline).min() ?? .max
    }

    /// The requests that arrived, by message and caller.
    var served: [Traffic] {
        (registrations.values.flatMap(\.meters) + unknown.values).map(\.traffic)
    }

    func register(_ endpoint: Endpoint, type: MessageType, version: UInt16) {
        let route = Route(type: type, version: version)
        registrations[route] = Registration(endpoint, route)
    }

    // MARK: Begin

    func begin(_ header: FrameHeader, body: [UInt8], of peer: Peer) {
        let arrived = MonotonicClock.now()
        let registration = registration(of: header)
        if let error = refusal(of: header, body, from: peer, registration?.endpoint) {
            return refuse(error, header, of: peer, registration)
        }
        guard let type = header.messageType, let messageID = header.messageID, let registration else { return }
        if peer.hello.service == .operator, header.isAsOperator { onOperatorCall?(type, messageID) }
        let isVouchedFor = peer.hello.vouchesForPersons
        let context = RequestContext(
            messageID: messageID, type: type, caller: peer.hello.service, callerKey: peer.key,
            actor: isVouchedFor ? header.actor : nil,
            clientAddress: isVouchedFor ? header.clientAddress : nil,
            accessToken: isVouchedFor ? header.accessToken : nil, language: header.contentLanguage,
            idempotencyKey: header.idempotencyKey,
            trace: header.traceparent.flatMap { TraceContext(traceparent: $0) }?.child() ?? .fresh(),
            sentAt: arrived - peer.delay, attempt: Int(header.attempt),
            deadline: arrived - peer.delay + UInt64(header.budgetMs) * 1_000_000, body: body)
        let meter = registration.meter(of: peer.hello.service)
        let job = Job(peer, meter, header.correlationID, context, arrived: arrived, ahead: queueDepth)
        jobs[job.key] = job
        meter.arrive()
        peer.inFlight += 1
        queueDepth += 1
        job.task = Loop.spawn { [self] in await run(registration.endpoint, job) }
        onWork?(context.deadline)
    }

    private func registration(of header: FrameHeader) -> Registration? {
        header.messageType.flatMap { registrations[Route(type: $0, version: header.messageVersion)] }
    }

    /// Why a request is refused on arrival. Its body is not read.
    private func refusal(
        of header: FrameHeader, _ body: [UInt8], from peer: Peer, _ endpoint: Endpoint?
    ) -> BusError? {
        guard let endpoint else { return BusError(.unknownMessage, "This service does not know this message.") }
        let rules = endpoint.rules
        let caller = peer.hello.service
        guard Self.allows(rules, isEvent: endpoint.isEvent, caller, isAsOperator: header.isAsOperator) else {
            return BusError(.callerNotAllowed, "This service does not accept this message from this caller.")
        }
        guard body.count <= rules.largestBody else {
            return BusError(.invalidMessage, "The message is larger than \(rules.largestBody) bytes.")
        }
        let key = JobKey(peer: ObjectIdentifier(peer), correlationID: header.correlationID)
        guard header.messageID != nil, jobs[key] == nil else {
            return BusError(.invalidMessage, "A request needs a message ID and an unused correlation ID.")
        }
        guard peer.delay < min(UInt64(header.budgetMs) * 1_000_000, BusTiming.staleness) else { return .expired }
        guard !refusesWork else {
            return BusError(.serviceUnavailable, "This replica is stopping.", retryAfter: .seconds(1))
        }
        guard jobs.count < configuration.largestLoad, peer.inFlight < configuration.credit,
            admission.admits(behind: queueDepth, at: MonotonicClock.now())
        else { return .busy }
        return nil
    }

    /// Access is denied by default.
    ///
    /// An operator may read. With ``CallOptions/isAsOperator``, an operator may also send messages that only programs
    /// send, but never on behalf of a person. An operator never gets a token. An operator never sends an event, because
    /// only a service knows what happened in its tables.
    static func allows(_ rules: MessageRules, isEvent: Bool, _ caller: ServiceName, isAsOperator: Bool) -> Bool {
        guard caller == .operator else { return rules.callers.contains(caller) }
        guard !rules.replyCarriesToken, !isEvent else { return false }
        return rules.callers.contains(caller) || rules.effect == .read || isAsOperator
    }

    /// Refuses a request that was not executed.
    func refuse(_ error: BusError, _ header: FrameHeader, of peer: Peer) {
        refuse(error, header, of: peer, registration(of: header))
    }

    private func refuse(_ error: BusError, _ header: FrameHeader, of peer: Peer, _ registration: Registration?) {
        let caller = peer.hello.service
        let meter = registration?.meter(of: caller) ?? unknown[caller] ?? TrafficMeter("unknown", caller)
        if registration == nil { unknown[caller] = meter }
        meter.refuse(error.code)
        refuse(error, header.correlationID, to: peer.address)
    }

    func refuse(_ error: BusError, _ correlationID: UInt64, to peer: ReturnAddress) {
        onAnswer?(FrameHeader(kind: .error, correlationID: correlationID), error.encoded, peer)
    }

    private func run(_ endpoint: Endpoint, _ job: Job) async {
        queueDepth -= 1
        let refusal = lateRefusal(of: job)
        // A request that was cancelled before it started is neither executed nor answered.
        if refusal == nil, !job.isOver {
            job.hasBegun = true
            end(job, await outcome(of: endpoint, job))
        } else if let refusal {
            end(job, .failure(refusal))
        }
        jobs[job.key] = nil
    }

    /// Why a request is refused when its turn comes: it waited too long.
    private func lateRefusal(of job: Job) -> BusError? {
        let now = MonotonicClock.now()
        // The network may have delayed the request before this process read it. That is no overload here.
        let isAdmitted = admission.begins(after: now - job.arrived, behind: job.ahead, at: now)
        job.meter.begin(afterNanoseconds: now - job.arrived)
        guard now < job.context.deadline, now - job.due < BusTiming.staleness else { return .expired }
        return isAdmitted ? nil : .busy
    }

    private func outcome(of endpoint: Endpoint, _ job: Job) async -> Result<RawReply, BusError> {
        do {
            return .success(try await endpoint.answer(job.context))
        } catch let error as any BusErrorConvertible {
            let busError = error.busError
            // This bus error reveals nothing to the caller, so the operator must learn the cause.
            if busError.code == ErrorCode.internalError.name { noteInternalError(error, of: job) }
            return .failure(busError)
        } catch is CancellationError {
            return .failure(.late)
        } catch {
            noteInternalError(error, of: job)
            return .failure(BusError(.internalError, "Something went wrong on our side.", executed: .unknown))
        }
    }

    private func noteInternalError(_ error: any Error, of job: Job) {
        internalErrors += 1
        onInternalError?(job.context, error)
    }

    // MARK: End

    /// Answers the caller, once.
    private func end(_ job: Job, _ outcome: Result<RawReply, BusError>) {
        guard !job.isOver else { return }
        let now = MonotonicClock.now()
        let elapsed = now - job.arrived
        var header = FrameHeader(kind: .reply, correlationID: job.correlationID)
        header.hints = FrameHeader.Hints(
            queueDepth: UInt32(clamping: queueDepth), inFlight: UInt32(clamping: jobs.count),
            handlerMicroseconds: UInt32(clamping: elapsed / 1000))
        var code: String?
        switch outcome {
        case .success(let reply):
            header.isReplay = reply.isReplay
            header.entityRevision = reply.entityRevision
            header.entityTag = reply.entityTag
            header.contentLanguage = reply.contentLanguage
            header.hasOtherSuccess = reply.hasOtherSuccess
            onAnswer?(header, reply.body, job.peer.address)
        case .failure(let error):
            code = error.code
            header.kind = .error
            onAnswer?(header, error.encoded, job.peer.address)
        }
        close(job, code, elapsed)
        if answers.isWatched(at: now) { answers.note(job.context, code ?? "ok", nanoseconds: elapsed) }
        onAnswered?(job.context, code ?? "ok", .nanoseconds(elapsed))
    }

    private func close(_ job: Job, _ code: String?, _ elapsed: UInt64) {
        job.isOver = true
        job.peer.inFlight -= 1
        job.meter.end(code, afterNanoseconds: elapsed)
    }

    /// The caller no longer waits for the answer.
    func cancel(_ correlationID: UInt64, of peer: Peer) {
        guard let job = jobs[JobKey(peer: ObjectIdentifier(peer), correlationID: correlationID)], !job.isOver else {
            return
        }
        let now = MonotonicClock.now()
        // The caller may have timed out a moment before this side. For both it was too late.
        let code = job.context.deadline <= now ? ErrorCode.deadlineExceeded.name : "cancelled"
        close(job, code, now - job.arrived)
        job.task?.cancel()
    }

    /// Answers the callers of requests that timed out, and cancels their handlers.
    func tick(now: UInt64) {
        for job in jobs.values where !job.isOver && job.context.deadline <= now {
            end(job, .failure(job.hasBegun ? .late : .expired))
            job.task?.cancel()
        }
    }

    func close() {
        for job in jobs.values { job.task?.cancel() }
    }
}

extension BusError {
    /// Refused before anything was executed: it waits, or would wait, too long.
    static let busy = BusError(.overloaded, "The service is busy. Please try again.", retryAfter: .seconds(1))

    /// Its time was over, or it waited so long that its caller has turned to another replica.
    fileprivate static let expired = BusError(
        .deadlineExceeded, "The time for this request ran out before it started.")

    fileprivate static var late: BusError {
        BusError(.deadlineExceeded, "The request took too long.", executed: .unknown)
    }
}
