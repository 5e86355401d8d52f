import BusProtocol
import EventLoop
import Glibc
import JSONText

/// The caller's side of the connection to one replica of a service: one DEALER socket.
@Loop final class Replica: TurnEnding {
    /// The result of an attempt.
    enum Outcome {
        case reply(RawReply)
        case error(BusError)
        /// Nothing was written, or the replica did not start the request.
        case notWritten
        /// The request was written, then the replica was lost. The replica may have executed it.
        case lost
    }

    let service: ServiceName
    let endpoint: String
    private let configuration: BusConfiguration
    private var socket: ZMQSocket
    /// The key that the replica must have, on a bus with keys.
    private var key: BusKey?
    /// When a refused connection is tried again, in nanoseconds; `nil` if none was refused.
    private var redialAt: UInt64?
    /// When the current connection attempt began, in nanoseconds.
    private var dialedAt: UInt64 = 0
    /// The other side ended the last handshake: it has another key than the allow list, or does not accept ours.
    private(set) var isRefused = false
    private var pending: [UInt64: Call] = [:]
    private var lastCorrelationID: UInt64 = 0
    /// Frames of this turn, which are sent together at its end. They include the requests after `lastSentID`.
    private var bundle = FrameBundle()
    private var lastSentID: UInt64 = 0
    private(set) var remote: Hello?
    private(set) var remoteState = ServiceState.starting
    /// The last PONG, as received and as read. An idle replica sends the same one again and again.
    private var lastPong: (body: [UInt8], pong: Pong)?
    /// It sent GOAWAY. It accepts no new requests, even if its PONGs say otherwise.
    private var isLeaving = false
    private var isGreeted = false
    private var lastHeard: UInt64 = 0
    private var lastSpoken: UInt64 = 0
    private var lastTick = MonotonicClock.now()
    private var health = OutlierEjection()
    /// When this process of the replica was first ready; 0 before that.
    private(set) var readySince: UInt64 = 0
    private var malformedFrames = 0
    private var losses = 0
    /// The callers that wait for the replica's report.
    private var inquirers: [LoopPromise<BusReport?>] = []
    /// The number of discoveries in a row that did not find it.
    var absences = 0
    /// Called when it has capacity again.
    private let onCapacity: @Loop () -> Void
    /// Called with the result of every attempt.
    private let onOutcome: @Loop (Call, Outcome) -> Void

    init(
        of service: ServiceName, at endpoint: String, _ configuration: BusConfiguration,
        onCapacity: @escaping @Loop () -> Void, onOutcome: @escaping @Loop (Call, Outcome) -> Void
    ) throws(ZMQError) {
        self.service = service
        self.endpoint = endpoint
        self.configuration = configuration
        self.onCapacity = onCapacity
        self.onOutcome = onOutcome
        key = configuration.security?.allowed.keys(of: service).first
        socket = try Self.socket(configuration.security, towards: key)
        try listen()
    }

    private static func socket(_ security: BusSecurity?, towards key: BusKey?) throws(ZMQError) -> ZMQSocket {
        let socket = try ZMQSocket(.dealer)
        if let security {
            guard let key else { throw ZMQError(code: EACCES, call: "no key of this service is allowed") }
            try socket.secure(as: security, towards: key)
        }
        return socket
    }

    private func listen() throws(ZMQError) {
        // Only this object has the socket. Once this object is gone, the socket is too, and calls nothing.
        try socket.onReadable { [unowned self] in takeTurn() }
        dialedAt = MonotonicClock.now()
        try socket.connect(endpoint) { [unowned self] in connectionChanged($0) }
    }

    // MARK: Keys

    /// The allow list has changed. If the replica's key is no longer on it, the replica gets no requests.
    func keysChanged() {
        guard let keys = configuration.security?.allowed.keys(of: service) else { return }
        if key.map({ !keys.contains($0) }) ?? true {
            lose()
            redial(at: MonotonicClock.now())
        } else if redialAt != nil {
            redial(at: MonotonicClock.now())
        }
    }

    /// libzmq does not connect again after a refusal. A new socket does, with the service's next key.
    private func redial(at time: UInt64) { redialAt = time }

    private func redialNow() {
        redialAt = nil
        // The old socket may have received a HELLO again meanwhile. Frames that were sent through it are lost.
        lose()
        let keys = configuration.security?.allowed.keys(of: service) ?? []
        let place = key.flatMap { keys.firstIndex(of: $0) }
        key = keys.isEmpty ? nil : keys[((place ?? -1) + 1) % keys.count]
        socket.close()
        do throws(ZMQError) {
            socket = try Self.socket(configuration.security, towards: key)
            try listen()
        } catch {
            redial(at: MonotonicClock.now() + BusTiming.redial)
        }
    }

    var fates: ReplicaFates {
        var fates = ReplicaFates(service)
        (fates.lost, fates.ejected, fates.malformedFrames) = (losses, health.ejections, malformedFrames)
        return fates
    }

    private var wire: WireVersion { remote?.commonWire ?? .twoParts }
    var inFlight: Int { pending.count }
    /// The first deadline of the calls in flight, in nanoseconds since boot.
    var firstDeadline: UInt64 { pending.values.lazy.map(\.deadline).min() ?? .max }
    var isAlive: Bool { isGreeted }
    var isReady: Bool { isGreeted && remoteState == .ready }
    func isAside(at now: UInt64) -> Bool { health.isAside(at: now) }

    /// Whether it has capacity for another request.
    var canTake: Bool { isReady && pending.count < min(configuration.credit, remote?.credit ?? 0) }

    // MARK: Asking

    func give(_ call: Call) {
        let now = MonotonicClock.now()
        lastCorrelationID += 1
        call.begin(at: self)
        call.header.correlationID = lastCorrelationID
        call.header.budgetMs = UInt32(clamping: (call.deadline - min(now, call.deadline)) / 1_000_000)
        call.header.sentAtMs = Bus.clockMilliseconds()
        if pending.isEmpty { health.beginsWork(at: now) }
        pending[lastCorrelationID] = call
        send(call.header, call.body)
    }

    /// Sends a frame now, or with the rest of this turn if the replica understands bundles.
    private func send(_ header: FrameHeader, _ body: [UInt8]) {
        guard wire == .bundles else { return noteSent(socket.send(header, body, in: wire)) }
        if !bundle.hasRoom(for: body.count) { sendBundle() }
        // The requests in the previous bundle may have been refused.
        guard isGreeted else { return }
        if bundle.isEmpty { Loop.atEndOfTurn(self) }
        bundle.append(header, body)
    }

    func endTurn() { sendBundle() }

    private func sendBundle() {
        guard !bundle.isEmpty else { return }
        let isSent = socket.send(bundle)
        bundle.removeAll()
        noteSent(isSent)
    }

    /// If a request cannot be sent, the connection is lost.
    private func noteSent(_ isSent: Bool) {
        if isSent { lastSentID = lastCorrelationID } else if lastSentID < lastCorrelationID { lose() }
    }

    /// The caller no longer waits.
    func forget(_ call: Call) {
        let id = call.header.correlationID
        guard pending[id] === call else { return }
        pending[id] = nil
        speak(.cancel, correlationID: id)
        onCapacity()
    }

    // MARK: Hearing

    /// - Returns: whether more frames may wait.
    private func takeTurn() -> Bool {
        var frames = 0
        while frames < 32 {
            guard socket.receive({ hear($0, &frames) }) else { return false }
        }
        return true
    }

    private func hear(_ received: Received, _ frames: inout Int) {
        frames += 1
        guard let header = received.frame else { return malformedFrames += 1 }
        lastHeard = MonotonicClock.now()
        take(header, body: received.body)
    }

    private func take(_ header: FrameHeader, body: [UInt8]) {
        switch header.kind {
        case .hello: greeted(by: body, wantsHello: header.wantsHello)
        case .pong:
            guard isGreeted, let pong = read(pong: body) else { return }
            remoteState = isLeaving ? .draining : pong.state
            if let report = pong.report { answerInquirers(report) }
            if isReady, readySince == 0 { readySince = MonotonicClock.now() }
            if canTake { onCapacity() }
        case .goAway:
            isLeaving = true
            remoteState = .draining
        case .reply:
            let reply = RawReply(
                body: body, isReplay: header.isReplay, entityRevision: header.entityRevision,
                entityTag: header.entityTag, contentLanguage: header.contentLanguage,
                hasOtherSuccess: header.hasOtherSuccess)
            finish(header.correlationID, .reply(reply))
        case .error: finish(header.correlationID, outcome(ofError: body))
        case .ping, .request, .cancel: malformedFrames += 1
        }
    }

    private func read(pong body: [UInt8]) -> Pong? {
        if let lastPong, lastPong.body == body { return lastPong.pong }
        guard let pong = try? WireJSON.decode(Pong.self, from: body) else { return nil }
        lastPong = (body, pong)
        return pong
    }

    /// The replica's report; `nil` if it does not answer in time.
    func report(within limit: Duration) async -> BusReport? {
        guard isGreeted else { return nil }
        let promise = LoopPromise<BusReport?>()
        inquirers.append(promise)
        speak(.ping, body: (try? WireJSON.encode(PingBody(wantsReport: true))) ?? [])
        let timer = LoopTimer(after: limit) { promise.resolve(.success(nil)) }
        defer { timer.cancel() }
        return (try? await promise.get()) ?? nil
    }

    private func answerInquirers(_ report: BusReport?) {
        for promise in inquirers { promise.resolve(.success(report)) }
        inquirers = []
    }

    private func outcome(ofError body: [UInt8]) -> Outcome {
        guard let error = try? WireJSON.decode(BusError.self, from: body) else {
            return .error(BusError(.internalError, "The answer cannot be read.", executed: .unknown))
        }
        // The replica refused because it does not know this process, or because it is stopping. In both cases the
        // request counts as not written, and the pool sends it again. A replica that does not know this process gets a
        // HELLO first. A replica that is stopping does not get the request again.
        let isNotNow = error.executed == .no && error.status == .unavailable
        return isNotNow && (!isGreeted || isLeaving) ? .notWritten : .error(error)
    }

    private func greeted(by body: [UInt8], wantsHello: Bool) {
        guard let hello = try? WireJSON.decode(Hello.self, from: body), hello.service == service, hello.speaksOurWire
        else {
            malformedFrames += 1
            return lose()
        }
        // Another instance at the same address is another process. It never received the requests to the old one.
        if let remote, remote.instance != hello.instance {
            lose()
            (isLeaving, readySince) = (false, 0)
        }
        remote = hello
        isGreeted = !wantsHello
        if wantsHello { greet() } else { speak(.ping) }
    }

    private func finish(_ id: UInt64, _ outcome: Outcome) {
        guard let call = pending.removeValue(forKey: id) else { return }
        // The replica's time-out and ours may happen in either order. Both mean that the replica did not answer.
        if case .error(let error) = outcome, error.status == .deadlineExceeded, error.executed != .no {
            health.missed(at: lastHeard)
        } else {
            health.answered(at: lastHeard)
        }
        onOutcome(call, outcome)
        onCapacity()
    }

    // MARK: Connection

    private func connectionChanged(_ change: ConnectionChange) {
        switch change {
        case .established:
            (redialAt, isRefused) = (nil, false)
            greet()
        case .lost:
            // Answers that the replica sent before it was lost are processed.
            while takeTurn() {}
            lose()
        case .refused:
            let now = MonotonicClock.now()
            isRefused = now < dialedAt + BusTiming.promptRefusal
            redialAt = redialAt ?? now + BusTiming.redial
        }
    }

    private func greet() {
        socket.refresh()
        speak(.hello, body: Bus.hello(configuration))
    }

    /// The replica is lost, with the requests that were sent to it. Requests that were not sent yet are not lost.
    private func lose() {
        if isGreeted { losses += 1 }
        isGreeted = false
        remoteState = .starting
        let lost = pending.values.sorted { $0.header.correlationID < $1.header.correlationID }
        let lastSentID = lastSentID
        (pending, self.lastSentID) = ([:], lastCorrelationID)
        bundle.removeAll()
        for call in lost { onOutcome(call, call.header.correlationID <= lastSentID ? .lost : .notWritten) }
        answerInquirers(nil)
    }

    // MARK: Time

    func tick(now: UInt64) {
        // A pause of this process is no silence of the replica.
        if now > lastTick + PauseDetector.limit { lastHeard = max(lastHeard, now - PauseDetector.limit) }
        let isMainTick = now / MonotonicClock.mainTick > lastTick / MonotonicClock.mainTick
        lastTick = now
        if let redialAt, redialAt <= now { redialNow() }
        if !isGreeted {
            if now > lastSpoken + BusTiming.greeting { greet() }
        } else if now > lastHeard + BusTiming.silence {
            lose()
        } else if isMainTick, now > max(lastHeard, lastSpoken) + BusTiming.quiet {
            speak(.ping)
        }
        health.look(inFlight: pending.count, at: now)
        for call in pending.values where call.deadline <= now {
            health.missed(at: now)
            call.finish(
                .failure(BusError(.deadlineExceeded, "The service took too long to answer.", executed: .unknown)))
            forget(call)
        }
    }

    /// Sends frames that are not requests. Only these count as activity, so a busy caller still gets PONGs.
    private func speak(_ kind: FrameKind, body: [UInt8] = [], correlationID: UInt64 = 0) {
        var header = FrameHeader(kind: kind, correlationID: correlationID, bodyLength: UInt32(body.count))
        header.sentAtMs = Bus.clockMilliseconds()
        if kind != .cancel { lastSpoken = MonotonicClock.now() }
        guard kind == .hello else { return send(header, body) }
        // The receiver may be another process than before, so it uses the oldest wire version, which everybody
        // understands.
        _ = socket.send(header, body, in: .twoParts)
    }

    func close() {
        socket.close()
        lose()
    }
}
