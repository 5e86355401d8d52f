import BusProtocol
import EventLoop

/// Takes requests to their handlers, each in a task of its own, and their answers back.
@Loop final class RequestDesk {
    private struct Route: Hashable {
        let type: MessageType
        let version: UInt16
    }
    private struct JobKey: Hashable {
        let peer: ObjectIdentifier
        let correlationID: UInt64
    }
    /// One request from its arrival until its handler has ended.
    @Loop private final class Job {
        let peer: Peer
        let correlationID: UInt64
        let context: RequestContext
        let arrived: UInt64
        var task: Task<Void, any Error>?
        /// The caller was told, or does not wait: what the handler still says is not sent.
        var isOver = false

        init(_ peer: Peer, _ correlationID: UInt64, _ context: RequestContext, arrived: UInt64) {
            (self.peer, self.correlationID, self.context, self.arrived) = (peer, correlationID, context, arrived)
        }

        var key: JobKey { JobKey(peer: ObjectIdentifier(peer), correlationID: correlationID) }
    }

    private let configuration: BusConfiguration
    private var endpoints: [Route: Endpoint] = [:]
    private var jobs: [JobKey: Job] = [:]
    private(set) var counters = BusCounters()
    /// Requests whose handlers have not begun.
    private(set) var queueDepth = 0
    /// The end of a drain: what comes now is answered as not executed.
    var refusesWork = false
    /// Called when there is work, which has deadlines to look at.
    var onWork: (@Loop () -> Void)?
    /// Told of every error that has no words for the wire; it must not log more than the error's type.
    var onInternalError: (@Loop (RequestContext, any Error) -> Void)?
    /// Told of every request that an operator made as one.
    var onOperatorCall: (@Loop (MessageType, Identifier) -> Void)?
    /// Told of every request that was answered, with its code (`ok` for a reply) and how long it took.
    var onAnswered: (@Loop (RequestContext, String, Duration) -> Void)?
    /// Sends an answer to the peer with the routing id.
    var onAnswer: (@Loop (FrameHeader, [UInt8], [UInt8]) -> Void)?

    init(_ configuration: BusConfiguration) { self.configuration = configuration }

    var inFlight: Int { jobs.count }

    func register(_ endpoint: Endpoint, type: MessageType, version: UInt16) {
        endpoints[Route(type: type, version: version)] = endpoint
    }

    // MARK: Begin

    func begin(_ header: FrameHeader, body: [UInt8], of peer: Peer) {
        let arrived = MonotonicClock.now()
        let endpoint = header.messageType.flatMap { endpoints[Route(type: $0, version: header.messageVersion)] }
        if let error = refusal(of: header, body, from: peer, endpoint) {
            counters.count(endpoint == nil ? nil : header.messageType, code: error.code)
            return refuse(error, header.correlationID, to: peer.id)
        }
        guard let type = header.messageType, let messageID = header.messageID, let endpoint else { return }
        if peer.hello.service == .operator, header.isAsOperator { onOperatorCall?(type, messageID) }
        let isVouchedFor = peer.hello.vouchesForPersons
        let context = RequestContext(
            messageID: messageID, type: type, caller: peer.hello.service, actor: isVouchedFor ? header.actor : nil,
            clientAddress: isVouchedFor ? header.clientAddress : nil, idempotencyKey: header.idempotencyKey,
            trace: header.traceparent.flatMap { TraceContext(traceparent: $0) }?.child() ?? .fresh(),
            deadline: arrived + UInt64(header.budgetMs) * 1_000_000, body: body)
        let job = Job(peer, header.correlationID, context, arrived: arrived)
        jobs[job.key] = job
        peer.inFlight += 1
        queueDepth += 1
        job.task = Loop.spawn { [self] in await run(endpoint, job) }
        onWork?()
    }

    /// Why a request is not begun; nothing of its body is looked at.
    private func refusal(
        of header: FrameHeader, _ body: [UInt8], from peer: Peer, _ endpoint: Endpoint?
    ) -> BusError? {
        guard let rules = endpoint?.rules else {
            return BusError(.unknownMessage, "This service does not know this message.")
        }
        guard Self.allows(rules, peer.hello.service, isAsOperator: header.isAsOperator) else {
            return BusError(.callerNotAllowed, "This service does not take this message from this caller.")
        }
        guard body.count <= rules.largestBody else {
            return BusError(.invalidMessage, "The message is larger than \(rules.largestBody) bytes.")
        }
        let key = JobKey(peer: ObjectIdentifier(peer), correlationID: header.correlationID)
        guard header.messageID != nil, jobs[key] == nil else {
            return BusError(.invalidMessage, "A request has a message id and a free correlation id.")
        }
        guard header.budgetMs > 0 else {
            return BusError(.deadlineExceeded, "The time for this request was over before it began.")
        }
        guard !refusesWork else {
            return BusError(.serviceUnavailable, "This replica is stopping.", retryAfter: .seconds(1))
        }
        guard jobs.count < configuration.largestLoad, peer.inFlight < configuration.credit else {
            return BusError(.overloaded, "The service is busy. Please try again.", retryAfter: .seconds(1))
        }
        return nil
    }

    /// Deny by default. An operator may read, and with a word for it do what programs do, in nobody's name.
    static func allows(_ rules: MessageRules, _ caller: ServiceName, isAsOperator: Bool) -> Bool {
        rules.callers.contains(caller) || caller == .operator && (rules.effect == .read || isAsOperator)
    }

    func refuse(_ error: BusError, _ correlationID: UInt64, to peer: [UInt8]) {
        onAnswer?(FrameHeader(kind: .error, correlationID: correlationID), error.encoded, peer)
    }

    private func run(_ endpoint: Endpoint, _ job: Job) async {
        queueDepth -= 1
        var outcome: Result<RawReply, BusError>
        do {
            outcome = .success(try await endpoint.answer(job.context))
        } catch let error as any BusErrorConvertible {
            outcome = .failure(error.busError)
        } catch is CancellationError {
            outcome = .failure(.late)
        } catch {
            counters.internalErrors += 1
            onInternalError?(job.context, error)
            outcome = .failure(BusError(.internalError, "Something went wrong on our side.", executed: .unknown))
        }
        end(job, outcome)
        jobs[job.key] = nil
    }

    // MARK: End

    /// Answers the caller, once.
    private func end(_ job: Job, _ outcome: Result<RawReply, BusError>) {
        guard !job.isOver else { return }
        close(job)
        var header = FrameHeader(kind: .reply, correlationID: job.correlationID)
        let elapsed = MonotonicClock.now() - job.arrived
        header.hints = FrameHeader.Hints(
            queueDepth: UInt32(clamping: queueDepth), inFlight: UInt32(clamping: jobs.count),
            handlerMicroseconds: UInt32(clamping: elapsed / 1000))
        let code: String
        switch outcome {
        case .success(let reply):
            code = "ok"
            header.isReplay = reply.isReplay
            header.entityRevision = reply.entityRevision
            onAnswer?(header, reply.body, job.peer.id)
        case .failure(let error):
            code = error.code
            header.kind = .error
            onAnswer?(header, error.encoded, job.peer.id)
        }
        counters.count(job.context.type, code: code)
        onAnswered?(job.context, code, .nanoseconds(elapsed))
    }

    private func close(_ job: Job) {
        job.isOver = true
        job.peer.inFlight -= 1
    }

    /// Nobody waits for the answer any more.
    func cancel(_ correlationID: UInt64, of peer: Peer) {
        guard let job = jobs[JobKey(peer: ObjectIdentifier(peer), correlationID: correlationID)], !job.isOver else {
            return
        }
        close(job)
        counters.count(job.context.type, code: "cancelled")
        job.task?.cancel()
    }

    /// Tells the callers of what is too late, and the handlers that nobody waits.
    func tick(now: UInt64) {
        for job in jobs.values where !job.isOver && job.context.deadline <= now {
            end(job, .failure(.late))
            job.task?.cancel()
        }
    }

    func close() {
        for job in jobs.values { job.task?.cancel() }
    }
}

extension BusError {
    fileprivate static var late: BusError {
        BusError(.deadlineExceeded, "The request took too long.", executed: .unknown)
    }
}
