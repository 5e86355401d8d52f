import BusProtocol
import EventLoop

/// One call through all of its attempts: it waits for a replica, is in flight, is tried again, and ends once.
@Loop final class Call {
    /// The correlation id and the budget are set anew in each attempt.
    var header: FrameHeader
    let body: [UInt8]
    /// Whether a second execution does no harm.
    private let mayRepeat: Bool
    /// Nanoseconds of ``MonotonicClock``, as all times here.
    let deadline: UInt64
    let meter: TrafficMeter
    private let begun = MonotonicClock.now()
    /// Until when it waits while no replica is ready.
    var patience: UInt64 = 0
    /// Since when it waits for a replica that can take it, and behind how many others then.
    var waitsSince: UInt64 = 0
    var ahead = 0
    /// Endpoints of the replicas that had it.
    private(set) var tried: [String] = []
    private var mayHaveRun = false
    private(set) weak var replica: Replica?
    private var result: Result<RawReply, BusError>?
    private var continuation: UnsafeContinuation<Result<RawReply, BusError>, Never>?

    init(_ header: FrameHeader, body: [UInt8], mayRepeat: Bool, deadline: UInt64, _ meter: TrafficMeter) {
        self.header = header
        self.body = body
        self.mayRepeat = mayRepeat
        self.deadline = deadline
        self.meter = meter
        self.header.attempt = 0
        meter.arrive()
    }

    var isDone: Bool { result != nil }

    func outcome() async -> Result<RawReply, BusError> {
        if let result { return result }
        return await withUnsafeContinuation { continuation = $0 }
    }

    /// A new attempt begins at a replica.
    func begin(at replica: Replica) {
        if self.replica == nil, tried.isEmpty { meter.begin(afterNanoseconds: MonotonicClock.now() - begun) }
        self.replica = replica
        header.attempt += 1
    }

    /// Nothing of the attempt was written: it does not count.
    func takeBack() { header.attempt -= 1 }

    /// The attempt ended without an answer to pass on.
    ///
    /// - Parameter written: it may have been executed.
    /// - Returns: whether another attempt may follow.
    func mayFollow(written: Bool) -> Bool {
        if let replica, !tried.contains(replica.endpoint) { tried.append(replica.endpoint) }
        if written { mayHaveRun = true }
        return !isDone && (mayRepeat || !written) && header.attempt < BusTiming.mostAttempts
    }

    func finish(_ result: Result<RawReply, BusError>) {
        guard self.result == nil else { return }
        var result = result
        // A refusal of this attempt says nothing about one before it that was lost.
        if mayHaveRun, case .failure(var error) = result, error.executed == .no {
            error.executed = .unknown
            result = .failure(error)
        }
        self.result = result
        var code: String?
        if case .failure(let error) = result { code = error.code }
        meter.end(code, afterNanoseconds: MonotonicClock.now() - begun)
        continuation?.resume(returning: result)
        continuation = nil
    }
}

extension BusError {
    /// No replica could be asked, or the one that was asked is gone.
    static func unavailable(executed: Executed) -> BusError {
        BusError(
            .serviceUnavailable, "This part of the service is not available right now. Please try again.",
            executed: executed, retryAfter: .seconds(1))
    }
}
