import BusProtocol
import EventLoop

/// One call with all of its attempts. It waits for a replica, is in flight, is possibly repeated, and ends once.
@Loop final class Call {
    /// Each attempt sets a new correlation ID and budget.
    var header: FrameHeader
    let body: [UInt8]
    /// Whether a second execution is harmless.
    private let mayRepeat: Bool
    /// In nanoseconds of ``MonotonicClock``, as all times here.
    let deadline: UInt64
    let meter: TrafficMeter
    private let begun = MonotonicClock.now()
    /// How long it waits while no replica is ready.
    var patience: UInt64 = 0
    /// When it began to wait for a replica with capacity, and how many others waited before it then.
    var waitsSince: UInt64 = 0
    var ahead = 0
    /// Endpoints of the replicas that it was sent to.
    private(set) var tried: [String] = []
    private var mayHaveRun = false
    /// Where the last attempt is. The replica forgets the call when the attempt ends.
    private(set) var replica: Replica?
    private var result: Result<RawReply, BusError>?
    private var continuation: UnsafeContinuation<Void, Never>?

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

    /// Waits until the call is done. A waiting task reserves no memory for the reply.
    func end() async {
        guard !isDone else { return }
        await withUnsafeContinuation {
            // A task from outside the loop is queued once more on its way here. The call may end meanwhile.
            if isDone {
                $0.resume()
            } else {
                continuation = $0
            }
        }
    }

    /// The reply of a call that is done.
    @inline(never)
    func reply() throws(BusError) -> RawReply {
        guard let result else { preconditionFailure("the call is not done") }
        return try result.get()
    }

    /// A new attempt begins at a replica.
    func begin(at replica: Replica) {
        if self.replica == nil, tried.isEmpty { meter.begin(afterNanoseconds: MonotonicClock.now() - begun) }
        self.replica = replica
        header.attempt += 1
    }

    /// Nothing of the attempt was written, so it does not count.
    func takeBack() { header.attempt -= 1 }

    /// The attempt ended without an answer for the caller.
    ///
    /// - Parameter written: whether the replica may have executed the attempt. It is false if the replica answered that
    ///   it did not.
    /// - Returns: whether another attempt may follow.
    func mayFollow(written: Bool) -> Bool {
        if let replica, !tried.contains(replica.endpoint) { tried.append(replica.endpoint) }
        if written { mayHaveRun = true }
        return !isDone && (mayRepeat || !written) && header.attempt < BusTiming.mostAttempts
    }

    func finish(_ result: Result<RawReply, BusError>) {
        guard self.result == nil else { return }
        var result = result
        // If this attempt was refused, an earlier, lost attempt may still have been executed.
        if mayHaveRun, case .failure(var error) = result, error.executed == .no {
            error.executed = .unknown
            result = .failure(error)
        }
        self.result = result
        var code: String?
        if case .failure(let error) = result { code = error.code }
        meter.end(code, afterNanoseconds: MonotonicClock.now() - begun)
        continuation?.resume()
        continuation = nil
    }
}

extension BusError {
    /// No replica was available, or the replica in use is gone.
    static func unavailable(executed: Executed) -> BusError {
        BusError(
            .serviceUnavailable, "This part of the service is not available right now. Please try again.",
            executed: executed, retryAfter: .seconds(1))
    }
}
