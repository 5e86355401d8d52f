import Foundation

/// How long a person waits until they may ask for another code, and how long the last one is good. It counts by itself: ask it at
/// any time for the seconds that are left.
public struct CodeTimer: Codable, Sendable, Equatable {
    /// When another code may be asked for.
    public let resendAt: Date
    /// When the code that was sent ends; `nil` if none was sent.
    public let endsAt: Date?

    /// Of a code by SMS that was just sent.
    public init(_ sent: OTPSent, at now: Date = Date()) {
        self.init(resend: sent.resendAfterSeconds, ends: sent.expiresInSeconds, now)
    }
    /// Of a code by email that was just sent.
    public init(_ sent: EmailCodeSent, at now: Date = Date()) {
        self.init(resend: sent.resendAfterSeconds, ends: sent.expiresInSeconds, now)
    }
    /// Of a code, as the server just said how it is doing.
    public init(_ delivery: CodeDelivery, at now: Date = Date()) {
        self.init(resend: delivery.resendAfterSeconds, ends: delivery.expiresInSeconds, now)
    }
    /// Of a code that was not sent, since there were too many; `nil` if the problem names no time.
    public init?(_ problem: Problem, at now: Date = Date()) {
        guard let seconds = problem.retryAfterSeconds else { return nil }
        self.init(resend: seconds, ends: nil, now)
    }

    private init(resend: Int, ends: Int?, _ now: Date) {
        resendAt = now.addingTimeInterval(TimeInterval(resend))
        endsAt = ends.map { now.addingTimeInterval(TimeInterval($0)) }
    }

    /// Seconds until another code may be asked for, rounded up; 0 from then on.
    public func secondsToResend(at now: Date = Date()) -> Int { Self.seconds(from: now, to: resendAt) }
    /// Seconds until the code ends, rounded up; 0 from then on, and without a code.
    public func secondsToEnd(at now: Date = Date()) -> Int { endsAt.map { Self.seconds(from: now, to: $0) } ?? 0 }

    private static func seconds(from now: Date, to end: Date) -> Int {
        max(0, Int(end.timeIntervalSince(now).rounded(.up)))
    }
}
