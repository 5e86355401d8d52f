import Foundation

/// When a call is repeated that had no answer, or one that says that a later attempt may succeed.
public struct RetryPolicy: Sendable, Equatable {
    /// How often a call is sent at most.
    public var attempts: Int
    /// Seconds until the second attempt; each further wait is twice as long, up to ``longestWait``.
    public var firstWait: TimeInterval
    /// Seconds that a wait takes at most for which the server did not ask.
    public var longestWait: TimeInterval
    /// Seconds that all waits of a call take at most. What takes longer is left to the app.
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
    ///   - outcome: what became of the last attempt.
    ///   - attempt: its number, from 1.
    ///   - waited: seconds of all waits before it.
    ///   - isSafe: the call may be done twice without harm.
    ///   - random: from 0 up to 1. It spreads clients that failed at the same moment.
    func wait(
        after outcome: CallOutcome, attempt: Int, waited: TimeInterval, isSafe: Bool, random: Double
    ) -> TimeInterval? {
        // At 429 nothing was done. Otherwise the call may have had its effect.
        guard Self.isPassing(outcome), isSafe || outcome.status == 429, attempt < attempts else { return nil }
        let half = min(longestWait, firstWait * pow(2, Double(attempt - 1))) / 2
        let wait = (outcome.retryAfterSeconds.map(TimeInterval.init) ?? half) + half * random
        return waited + wait <= limit ? wait : nil
    }

    /// How long a queue of answers waits that could not be sent.
    ///
    /// - Parameters:
    ///   - failures: how often in a row, from 1.
    ///   - retryAfterSeconds: what the server asked for.
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
    /// Whether the call may be done twice: with a key of its own, a POST is done once. A repeated PATCH of one version would
    /// meet the version that its first attempt made.
    var isSafeToRepeat: Bool {
        switch method {
        case .get, .put, .delete: true
        case .post: has("Idempotency-Key")
        case .patch: !has("If-Match")
        }
    }

    /// The call with a key, if it is a POST without one: however often it is sent, it is done once.
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
