import Foundation

/// How long a person waits until they may ask for another code, and how long the last one is good. It counts by itself: ask it at
/// any time for the seconds that are left.
public struct CodeTimer: Codable, Sendable, Equatable {
    private let since: Date
    private let resendAfter: Int
    private let expiresIn: Int

    /// Of a code by SMS that was just sent.
    public init(_ sent: OTPSent, at now: Date = Date()) {
        (since, resendAfter, expiresIn) = (now, sent.resendAfterSeconds, sent.expiresInSeconds)
    }
    /// Of a code by email that was just sent.
    public init(_ sent: EmailCodeSent, at now: Date = Date()) {
        (since, resendAfter, expiresIn) = (now, sent.resendAfterSeconds, sent.expiresInSeconds)
    }
    /// Of a code, as the server just said how it is doing.
    public init(_ delivery: CodeDelivery, at now: Date = Date()) {
        (since, resendAfter, expiresIn) = (now, delivery.resendAfterSeconds, delivery.expiresInSeconds)
    }
    /// Of a code that was not sent, since there were too many; `nil` if the problem names no time.
    public init?(_ problem: Problem, at now: Date = Date()) {
        guard let seconds = problem.retryAfterSeconds else { return nil }
        (since, resendAfter, expiresIn) = (now, seconds, 0)
    }

    /// Seconds until another code may be asked for, rounded up; 0 from then on.
    public func secondsToResend(at now: Date = Date()) -> Int { Self.left(of: resendAfter, since: since, at: now) }
    /// Seconds until the code ends, rounded up; 0 from then on, and where none was sent.
    public func secondsToEnd(at now: Date = Date()) -> Int { Self.left(of: expiresIn, since: since, at: now) }

    /// A clock that was set back makes no wait longer.
    static func left(of seconds: Int, since: Date, at now: Date) -> Int {
        min(seconds, max(0, Int((Double(seconds) - now.timeIntervalSince(since)).rounded(.up))))
    }
}
