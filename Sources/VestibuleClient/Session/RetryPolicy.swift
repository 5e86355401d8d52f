import Foundation

/// When a call is repeated that had no answer, or one that says that a later attempt may succeed.
public struct RetryPolicy: Sendable, Equatable {
    /// How often a call is sent at most.
    public var attempts: Int
    /// Seconds until the first repetition; each further one takes twice as long.
    public var firstWait: TimeInterval
    /// Seconds that one wait takes at most. An answer that asks for a longer one is left to the app.
    public var longestWait: TimeInterval
    /// Seconds after the beginning of the call in which the last attempt must begin.
    public var limit: TimeInterval

    /// A policy with these bounds.
    public init(
        attempts: Int = 5, firstWait: TimeInterval = 0.5, longestWait: TimeInterval = 10, limit: TimeInterval = 60
    ) {
        (self.attempts, self.firstWait, self.longestWait, self.limit) = (attempts, firstWait, longestWait, limit)
    }

    /// Sends each call once.
    public static let once = RetryPolicy(attempts: 1)

    /// How long to wait before the next attempt; `nil` to give up.
    ///
    /// - Parameters:
    ///   - error: what became of the last attempt.
    ///   - attempt: its number, from 1.
    ///   - elapsed: seconds since the first attempt began.
    ///   - isSafe: the call may be done twice without harm.
    ///   - random: from 0 up to 1. It spreads clients that failed at the same moment.
    func wait(
        after error: VestibuleError, attempt: Int, elapsed: TimeInterval, isSafe: Bool, random: Double
    ) -> TimeInterval? {
        guard attempt < attempts, Self.mayHelp(after: error, isSafe: isSafe) else { return nil }
        let wait: TimeInterval
        if case .problem(let problem) = error, let asked = problem.retryAfterSeconds.map(TimeInterval.init) {
            guard asked <= longestWait else { return nil }
            wait = asked + random * firstWait
        } else {
            wait = min(longestWait, firstWait * pow(2, Double(attempt - 1))) * (0.5 + random / 2)
        }
        return elapsed + wait <= limit ? wait : nil
    }

    /// Whether the same call may succeed later.
    static func mayHelp(after error: VestibuleError, isSafe: Bool) -> Bool {
        switch error {
        case .noAnswer: isSafe
        case .unreadable(let status, _): status == 429 || isSafe && isPassing(status)
        case .problem(let problem):
            // Neither began the work.
            [429, 503].contains(problem.status) || problem.code == .requestInProgress
                || isSafe && isPassing(problem.status)
        case .notModified, .signedOut, .store: false
        }
    }

    private static func isPassing(_ status: Int) -> Bool { [408, 500, 502, 503, 504].contains(status) }
}

extension Call {
    /// Whether the call may be done twice: with a key of its own, a POST is done once. A repeated PATCH of one version would
    /// meet the version that its first attempt made.
    var isSafeToRepeat: Bool {
        switch method {
        case .get, .put, .delete: true
        case .post: headers.contains { $0.key.lowercased() == "idempotency-key" && $0.value != nil }
        case .patch: !headers.contains { $0.key.lowercased() == "if-match" && $0.value != nil }
        }
    }
}
