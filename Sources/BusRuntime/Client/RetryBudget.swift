/// Limits the retries of all calls to one service. Each retry costs a token, and calls earn tokens.
///
/// If a service is slow or down, unlimited retries would triple its load at the worst time. A tenth of the calls may be
/// retried, and ten per second if there are few calls. The bucket is large enough for two replicas that are lost at
/// once with all their requests in flight (the credit is 64).
///
/// - Source: Google, "Site Reliability Engineering", 2016, chapter 21. It allows at most three attempts of a request,
///   and a budget of 10 % for the retries of a client.
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
    /// - Parameter now: in nanoseconds.
    /// - Returns: false if there is no token.
    mutating func spend(at now: UInt64) -> Bool {
        let passed = filledAt == 0 ? 0 : now - min(filledAt, now)
        tokens = min(Self.most, tokens + Double(passed) / 1e9 * Self.perSecond)
        filledAt = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}

/// How long a call waits before it is sent to the same replica again. Another replica is called at once.
enum RetryPause {
    /// The delay before the next attempt, with full jitter.
    ///
    /// - Parameter attempt: attempts so far, from 1.
    /// - Returns: uniform over 0 ... min(1 s, 50 ms · 2^(attempt - 1)), in whole microseconds.
    /// - Source: M. Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015.
    static func pause(after attempt: UInt8, using generator: inout some RandomNumberGenerator) -> Duration {
        let most = min(1_000_000, 50_000 << (Int(min(max(attempt, 1), 8)) - 1))
        return .microseconds(Int.random(in: 0...most, using: &generator))
    }
}
