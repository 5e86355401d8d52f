/// Decides when a push that its provider did not accept is tried again.
enum PushPolicy {
    private static let longestMilliseconds: Int64 = 3_600_000
    /// The longest pause that a provider can ask for, so that ten attempts end in bounded time.
    static let longestRetryAfter = Duration.seconds(6 * 3600)

    /// The pause before the next attempt: 1 s, then three times as long each time up to an hour, plus or minus a fifth.
    ///
    /// It is never less than the provider asked for. Nine pauses take about two hours, so that an outage of an hour
    /// loses no notice of a recovery.
    ///
    /// - Parameter attempt: the number of the failed attempt, from 1.
    static func pause(afterAttempt attempt: Int, retryAfter: Duration?) -> Duration {
        var pause: Int64 = 1000
        for _ in 1..<max(attempt, 1) { pause = min(pause * 3, longestMilliseconds) }
        let own = Duration.milliseconds(Int64.random(in: pause * 4 / 5...pause * 6 / 5))
        return max(own, min(retryAfter ?? .zero, longestRetryAfter))
    }
}
