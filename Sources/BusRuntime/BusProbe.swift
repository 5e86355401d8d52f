import BusProtocol
import EventLoop
import JSONText

/// Examines one replica for an operator's tool: HELLO, PING, and the replica's report.
@Loop package final class BusProbe {
    /// The answer of a replica.
    package struct Answer: Sendable, Equatable {
        /// The name of its service, as it gives it.
        package let service: ServiceName
        /// Identifies this start of the process.
        package let instance: Identifier
        /// Its process ID; `nil` if its build does not send it.
        package let process: Int32?
        /// Its build.
        package let build: String
        /// The oldest and the newest wire version that it understands.
        package let wire: ClosedRange<Int>
        /// The digest of its message catalogue. Replicas with the same digest have the same messages.
        package let catalogue: String
        /// The most requests in flight that it accepts from one caller.
        package let credit: Int
        /// Whether it accepts requests.
        package let state: ServiceState
        /// Requests that wait for their handlers to start.
        package let queueDepth: Int
        /// Requests that arrived and are not yet answered.
        package let inFlight: Int
        /// The time from PING to PONG.
        package let roundTrip: Duration
        /// Its report, if asked for.
        package let report: BusReport?
        /// Its newest answers if asked for, at most 256, the oldest first.
        package let answers: [AnswerRecord]
    }

    /// A further question to a replica besides its state.
    package enum Question: Sendable {
        case nothing
        case report
        /// The answers after the record with this number; 0 the first time. The replica then keeps its answers for 5 s.
        case answers(after: UInt64)
        /// Drain and stop. The replica answers once it drains.
        case drain
    }

    private let socket: ZMQSocket
    private let question: Question
    private let answer = LoopPromise<Result<Answer, ServiceAbsence>>()
    private var hello: Hello?
    private var pingedAt: UInt64 = 0
    /// The first PONG comes with the HELLO, before anything was asked.
    private var isGreeted = false

    /// Examines a replica.
    ///
    /// - Parameters:
    ///   - service: the service whose key the replica must have.
    ///   - security: the caller's keys. The allow list decides the caller's name.
    ///   - question: what is asked besides the state. Only an operator or a gateway gets a report or answers, and only an
    ///     operator can make the replica drain.
    ///   - limit: how long to wait.
    /// - Returns: `nil` if no answer in this protocol arrives in time.
    package static func look(
        at endpoint: String, of service: ServiceName, as security: BusSecurity, question: Question = .nothing,
        within limit: Duration
    ) async -> Answer? {
        try? await examine(endpoint, of: service, as: security, question: question, within: limit).get()
    }

    /// Does the same as ``look(at:of:as:question:within:)``, but also returns the reason if there is no answer.
    package static func examine(
        _ endpoint: String, of service: ServiceName, as security: BusSecurity, question: Question = .nothing,
        within limit: Duration
    ) async -> Result<Answer, ServiceAbsence> {
        guard let name = security.name else { return .failure(.ownKeyRevoked) }
        if let path = path(of: endpoint), UnixSocket.condition(of: path) == .refused { return .failure(.notFound) }
        let keys = security.allowed.keys(of: service)
        var verdict = Result<Answer, ServiceAbsence>.failure(keys.isEmpty ? .keyRevoked : .noAnswer)
        for key in keys {
            let probe = try? BusProbe(endpoint, BusConfiguration(service: name), security, towards: key, question)
            verdict = await probe?.wait(limit) ?? .failure(.noAnswer)
            if case .success = verdict { break }
        }
        return verdict
    }

    /// The process that listens on a socket of this machine, even if it does not answer; `nil` for other endpoints.
    package nonisolated static func listener(at endpoint: String) -> Int32? {
        path(of: endpoint).flatMap { UnixSocket.listener(of: $0) }
    }

    private nonisolated static func path(of endpoint: String) -> String? {
        endpoint.hasPrefix("ipc://") ? String(endpoint.dropFirst(6)) : nil
    }

    private init(
        _ endpoint: String, _ configuration: BusConfiguration, _ security: BusSecurity, towards key: BusKey,
        _ question: Question
    ) throws(ZMQError) {
        self.question = question
        socket = try ZMQSocket(.dealer)
        try socket.secure(as: security, towards: key)
        try socket.onReadable { [weak self] in self?.drain() ?? false }
        let greeting = Bus.hello(configuration)
        try socket.connect(endpoint) { [weak self] change in
            guard let self else { return }
            switch change {
            case .established:
                socket.refresh()
                send(.hello, greeting)
            case .refused: answer.resolve(.success(.failure(.keyRefused)))
            case .lost: break
            }
        }
    }

    private func wait(_ limit: Duration) async -> Result<Answer, ServiceAbsence> {
        let timer = LoopTimer(after: limit) { [answer] in answer.resolve(.success(.failure(.noAnswer))) }
        let verdict = try? await answer.get()
        timer.cancel()
        socket.close()
        return verdict ?? .failure(.noAnswer)
    }

    private func send(_ kind: FrameKind, _ body: [UInt8] = []) {
        var header = FrameHeader(kind: kind, bodyLength: UInt32(body.count))
        header.sentAtMs = Bus.clockMilliseconds()
        _ = socket.send(header, body, in: hello?.commonWire ?? .twoParts)
    }

    private func ask() {
        var ping: PingBody?
        switch question {
        case .nothing: break
        case .report: ping = PingBody(wantsReport: true)
        case .answers(let number): ping = PingBody(answersAfter: number)
        case .drain: send(.goAway)
        }
        send(.ping, ping.flatMap { try? WireJSON.encode($0) } ?? [])
    }

    /// If the question was to drain, only the state `draining` is an answer. A draining replica sends that to all of its
    /// callers.
    private func answersQuestion(_ pong: Pong) -> Bool {
        guard case .drain = question else { return true }
        return pong.state == .draining
    }

    /// - Returns: false, since it takes all frames.
    private func drain() -> Bool {
        while socket.receive({ hear($0) }) {}
        return false
    }

    private func hear(_ received: Received) {
        guard let header = received.frame else { return }
        switch header.kind {
        case .hello:
            guard hello == nil, let said = try? WireJSON.decode(Hello.self, from: received.body), said.speaksOurWire
            else { return }
            hello = said
            pingedAt = MonotonicClock.now()
            ask()
        case .pong:
            guard let hello, let pong = try? WireJSON.decode(Pong.self, from: received.body) else { return }
            guard isGreeted, answersQuestion(pong) else {
                isGreeted = true
                return
            }
            answer.resolve(
                .success(
                    .success(
                        Answer(
                            service: hello.service, instance: hello.instance, process: hello.process,
                            build: hello.build, wire: hello.wireVersions, catalogue: hello.catalogue,
                            credit: hello.credit, state: pong.state, queueDepth: pong.queueDepth,
                            inFlight: pong.inFlight, roundTrip: .nanoseconds(MonotonicClock.now() - pingedAt),
                            report: pong.report, answers: pong.answers ?? []))))
        default: return
        }
    }
}
