import Foundation

/// The time until a person may ask for another code, and the time for which the last one is valid. Ask it at any time
/// for the seconds that are left.
public struct CodeTimer: Codable, Sendable, Equatable {
    private let since: Date
    private let resendAfter: Int
    private let expiresIn: Int

    /// A timer for a code that was just sent by SMS.
    public init(_ sent: OTPSent, at now: Date = Date()) {
        (since, resendAfter, expiresIn) = (now, sent.resendAfterSeconds, sent.expiresInSeconds)
    }
    /// A timer for a code that was just sent by email.
    public init(_ sent: EmailCodeSent, at now: Date = Date()) {
        (since, resendAfter, expiresIn) = (now, sent.resendAfterSeconds, sent.expiresInSeconds)
    }
    /// A timer for a code whose delivery state the server has just reported.
    public init(_ delivery: CodeDelivery, at now: Date = Date()) {
        (since, resendAfter, expiresIn) = (now, delivery.resendAfterSeconds, delivery.expiresInSeconds)
    }
    /// A timer for a code that was not sent because there were too many; `nil` if the problem names no time.
    public init?(_ problem: Problem, at now: Date = Date()) {
        guard let seconds = problem.retryAfterSeconds else { return nil }
        (since, resendAfter, expiresIn) = (now, seconds, 0)
    }

    /// Seconds until the person may ask for another code, rounded up; 0 from then on.
    public func secondsToResend(at now: Date = Date()) -> Int { Self.left(of: resendAfter, since: since, at: now) }
    /// Seconds until the code expires, rounded up; 0 from then on, and if no code was sent.
    public func secondsToEnd(at now: Date = Date()) -> Int { Self.left(of: expiresIn, since: since, at: now) }

    /// If the clock was set back, no wait gets longer.
    static func left(of seconds: Int, since: Date, at now: Date) -> Int {
        min(seconds, max(0, Int((Double(seconds) - now.timeIntervalSince(since)).rounded(.up))))
    }
}
