import Foundation

/// Says when the client repeats a call. It repeats calls without an answer, and calls whose answer says that a later
/// attempt may succeed.
public struct RetryPolicy: Sendable, Equatable {
    /// The most attempts of a call.
    public var attempts: Int
    /// Seconds until the second attempt; each further wait is twice as long, up to ``longestWait``.
    public var firstWait: TimeInterval
    /// The longest wait in seconds, if the server asks for none.
    public var longestWait: TimeInterval
    /// The most seconds for all waits of a call together. If the next wait would exceed it, the call fails at once, and
    /// the app decides.
    public var limit: TimeInterval

    /// A policy with these bounds.
    public init(
        attempts: Int = 4, firstWait: TimeInterval = 0.4, longestWait: TimeInterval = 4, limit: TimeInterval = 15
    ) {
        (self.attempts, self.firstWait, self.longestWait, self.limit) = (attempts, firstWait, longestWait, limit)
    }

    /// Sends each call once.
    public static let once = RetryPolicy(attempts: 1)

    /// How long to wait before the next attempt; `nil` to give up.
    ///
    /// - Parameters:
    ///   - outcome: the outcome of the last attempt.
    ///   - attempt: its number, from 1.
    ///   - waited: seconds of all waits before it.
    ///   - isSafe: the call may be done twice without harm.
    ///   - random: from 0 up to 1. It spreads clients that failed at the same moment.
    func wait(
        after outcome: CallOutcome, attempt: Int, waited: TimeInterval, isSafe: Bool, random: Double
    ) -> TimeInterval? {
        // With the status 429, the call had no effect. After any other outcome it may have had one.
        guard Self.isPassing(outcome), isSafe || outcome.status == 429, attempt < attempts else { return nil }
        let half = min(longestWait, firstWait * pow(2, Double(attempt - 1))) / 2
        let wait = (outcome.retryAfterSeconds.map(TimeInterval.init) ?? half) + half * random
        return waited + wait <= limit ? wait : nil
    }

    /// How long a queue of answers waits after it could not be sent.
    ///
    /// - Parameters:
    ///   - failures: how often in a row, from 1.
    ///   - retryAfterSeconds: the wait that the server asked for.
    static func queueWait(failures: Int, retryAfterSeconds: Int?, random: Double) -> TimeInterval {
        let half = min(queueLongestWait, queueFirstWait * pow(2, Double(failures - 1))) / 2
        return max(half, TimeInterval(retryAfterSeconds ?? 0)) + half * random
    }

    /// Seconds that a queue waits at first, and at most.
    static let (queueFirstWait, queueLongestWait) = (1.0, 60.0)

    /// Whether the same call may succeed later.
    private static func isPassing(_ outcome: CallOutcome) -> Bool {
        guard let status = outcome.status else { return outcome.isOnline }
        return [408, 429, 500, 502, 503, 504].contains(status) || outcome.code == .requestInProgress
    }
}

extension Call {
    /// Whether the call may be done twice. The server does a POST with an idempotency key once. A repeated PATCH of one
    /// version would meet the version that its first attempt made.
    var isSafeToRepeat: Bool {
        switch method {
        case .get, .put, .delete: true
        case .post: has("Idempotency-Key")
        case .patch: !has("If-Match")
        }
    }

    /// The call with an idempotency key, if it is a POST without one. So the server does it once, even if it is sent
    /// again.
    func withKey() -> Self {
        guard method == .post, !isSafeToRepeat else { return self }
        var call = self
        call.headers["Idempotency-Key"] = UUID().uuidString
        return call
    }

    private func has(_ header: String) -> Bool {
        headers.contains { $0.key.caseInsensitiveCompare(header) == .orderedSame && $0.value != nil }
    }
}
