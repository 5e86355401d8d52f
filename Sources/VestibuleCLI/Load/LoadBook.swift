import EventLoop

/// The outcomes of the calls of one kind.
struct LoadTally: Sendable {
    /// The times of all calls, from the intended start. A call without an answer counts until the load gave it up.
    private(set) var times = LatencyHistogram()
    /// How many calls failed, by the code of the problem or of the ``LoadFailure``.
    private(set) var errors: [String: Int] = [:]

    /// The number of calls that succeeded.
    var done: Int { times.count - failed }
    /// The number of calls that failed.
    var failed: Int { errors.values.reduce(0, +) }

    /// Adds a call.
    mutating func note(microseconds: UInt64, error: String?) {
        times.note(microseconds: microseconds)
        if let error { errors[error, default: 0] += 1 }
    }
}

/// The figures of a load while it runs.
@Loop final class LoadBook {
    /// The actions, from their intended starts.
    private(set) var actions = LoadTally()
    /// The calls of each kind.
    private(set) var calls: [String: LoadTally] = [:]
    /// How late the generator started each action.
    private(set) var lag = LatencyHistogram()
    /// The number of actions that run.
    private(set) var running = 0

    /// Notes that an action starts now.
    func began(since intended: UInt64) {
        running += 1
        lag.note(microseconds: Self.microseconds(since: intended))
    }

    /// Notes that an action ends now.
    func ended(since intended: UInt64, error: String?) {
        running -= 1
        actions.note(microseconds: Self.microseconds(since: intended), error: error)
    }

    /// Notes that a call ends now.
    func ended(_ call: String, since intended: UInt64, error: String?) {
        calls[call, default: LoadTally()].note(microseconds: Self.microseconds(since: intended), error: error)
    }

    /// The number of calls.
    var callCount: Int { calls.values.reduce(0) { $0 + $1.times.count } }

    private static func microseconds(since intended: UInt64) -> UInt64 {
        let now = MonotonicClock.now()
        return now > intended ? (now - intended) / 1_000 : 0
    }
}
