/// Bounds the retries of all calls to one service: a token for each, earned by the calls themselves.
///
/// When a service is slow or gone altogether, unbounded retries treble its load just then. A tenth of the calls may be
/// tried again, and ten a second where there are few. The bucket holds enough for two replicas that die at once with all
/// that was in flight on them (the credit is 64).
///
/// - Source: Google, "Site Reliability Engineering", 2016, chapter 21: at most three attempts of a request, and a budget of
///   10 % for the retries of a client.
struct RetryBudget {
    static let share = 0.1
    static let perSecond = 10.0
    static let most = 128.0

    private var tokens = Self.most
    private var filledAt: UInt64 = 0

    /// A call was made.
    mutating func earn() { tokens = min(Self.most, tokens + Self.share) }

    /// Takes a token for one retry.
    ///
    /// - Parameter now: nanoseconds.
    /// - Returns: false where there is none.
    mutating func spend(at now: UInt64) -> Bool {
        let passed = filledAt == 0 ? 0 : now - min(filledAt, now)
        tokens = min(Self.most, tokens + Double(passed) / 1e9 * Self.perSecond)
        filledAt = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}

/// How long a call waits before it is tried again at a replica that had it already. Another replica is asked at once.
enum RetryPause {
    /// - Parameter attempt: attempts so far, from 1.
    /// - Returns: uniform over 0 ... min(1 s, 50 ms · 2^(attempt - 1)), in whole microseconds: full jitter.
    /// - Source: M. Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015.
    static func pause(after attempt: UInt8, using generator: inout some RandomNumberGenerator) -> Duration {
        let most = min(1_000_000, 50_000 << (Int(min(max(attempt, 1), 8)) - 1))
        return .microseconds(Int.random(in: 0...most, using: &generator))
    }
}
