import BusProtocol
import EventLoop
import JSONText

/// The asking side towards one replica of a service: one DEALER socket.
@Loop final class Replica {
    /// What became of a request that was given to the replica.
    enum Answer: Sendable {
        case reply(RawReply)
        case error(BusError)
        /// Nothing was written.
        case notWritten
        /// Written, and then the replica was gone: it may have been done.
        case lost
        case deadlineExceeded
    }

    private struct Pending {
        let continuation: UnsafeContinuation<Answer, Never>
        let deadline: UInt64
    }

    let endpoint: String
    private let configuration: BusConfiguration
    private let socket: ZMQSocket
    private var pending: [UInt64: Pending] = [:]
    private var lastCorrelationID: UInt64 = 0
    private(set) var remote: Hello?
    private(set) var remoteState = ServiceState.starting
    private var isGreeted = false
    private var lastHeard: UInt64 = 0
    private var lastSpoken: UInt64 = 0
    /// Looks in a row in which discovery did not find it.
    var absences = 0
    /// Called when it can take a request that it could not take before.
    var onCapacity: (@Loop () -> Void)?

    init(endpoint: String, configuration: BusConfiguration) throws(ZMQError) {
        self.endpoint = endpoint
        self.configuration = configuration
        socket = try ZMQSocket(.dealer)
        try socket.connect(endpoint)
        socket.onReadable { [unowned self] in takeTurn() }
    }

    var inFlight: Int { pending.count }
    var isAlive: Bool { isGreeted }

    /// Whether it may be given one more request.
    var canTake: Bool {
        isGreeted && remoteState == .ready && pending.count < min(configuration.credit, remote?.credit ?? 0)
    }

    // MARK: Asking

    func ask(_ header: FrameHeader, body: [UInt8], deadline: UInt64) async -> Answer {
        lastCorrelationID += 1
        var header = header
        header.correlationID = lastCorrelationID
        let now = MonotonicClock.now()
        guard deadline > now + 1_000_000 else { return .deadlineExceeded }
        header.budgetMs = UInt32(clamping: (deadline - now) / 1_000_000)
        header.sentAtMs = Bus.wallMilliseconds()
        guard socket.send(header.encoded(), body) else {
            lose()
            return .notWritten
        }
        lastSpoken = now
        let id = lastCorrelationID
        return await withUnsafeContinuation { pending[id] = Pending(continuation: $0, deadline: deadline) }
    }

    // MARK: Hearing

    private func takeTurn() {
        for _ in 0..<256 {
            guard let parts = socket.receive() else { return }
            guard parts.count == 2, case .success(let header) = FrameHeader.decoded(parts[0]),
                Int(header.bodyLength) == parts[1].count
            else { continue }
            lastHeard = MonotonicClock.now()
            take(header, body: parts[1])
        }
    }

    private func take(_ header: FrameHeader, body: [UInt8]) {
        switch header.kind {
        case .hello: greeted(by: body)
        case .pong:
            guard let pong = try? WireJSON.decode(Pong.self, from: body) else { return }
            remoteState = pong.state
            if canTake { onCapacity?() }
        case .goAway: remoteState = .draining
        case .reply: finish(header.correlationID, .reply(RawReply(body: body, isReplay: header.isReplay)))
        case .error:
            let error =
                (try? WireJSON.decode(BusError.self, from: body))
                ?? BusError(.internalError, "The answer cannot be read.", executed: .unknown)
            finish(header.correlationID, .error(error))
        case .ping, .request, .cancel: break
        }
    }

    private func greeted(by body: [UInt8]) {
        guard let hello = try? WireJSON.decode(Hello.self, from: body) else { return }
        // Another instance at the same address is another process: it never heard what the old one was asked.
        if let remote, remote.instance != hello.instance { failAll() }
        let wasGreeted = isGreeted
        remote = hello
        isGreeted = true
        if !wasGreeted { speak(.ping, body: []) }
    }

    private func finish(_ id: UInt64, _ answer: Answer) {
        guard let waiting = pending.removeValue(forKey: id) else { return }
        waiting.continuation.resume(returning: answer)
        onCapacity?()
    }

    private func failAll() {
        let lost = pending
        pending = [:]
        for waiting in lost.values { waiting.continuation.resume(returning: .lost) }
    }

    private func lose() {
        isGreeted = false
        remoteState = .starting
        failAll()
    }

    // MARK: Time

    func tick(now: UInt64) {
        if isGreeted {
            if now > lastHeard + BusTiming.silence {
                lose()
            } else if now > lastHeard + BusTiming.heartbeat, now > lastSpoken + BusTiming.heartbeat {
                speak(.ping, body: [])
            }
        } else if now > lastSpoken + BusTiming.heartbeat {
            speak(.hello, body: Bus.hello(configuration))
            lastHeard = now
        }
        for (id, waiting) in pending where waiting.deadline <= now {
            speak(.cancel, body: [], correlationID: id)
            finish(id, .deadlineExceeded)
        }
    }

    private func speak(_ kind: FrameKind, body: [UInt8], correlationID: UInt64 = 0) {
        var header = FrameHeader(kind: kind, correlationID: correlationID, bodyLength: UInt32(body.count))
        header.sentAtMs = Bus.wallMilliseconds()
        lastSpoken = MonotonicClock.now()
        _ = socket.send(header.encoded(), body)
    }

    func close() {
        lose()
        socket.close()
    }
}
