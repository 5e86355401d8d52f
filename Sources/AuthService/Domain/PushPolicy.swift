/// When a push that was not taken is tried again.
enum PushPolicy {
    private static let longestMilliseconds: Int64 = 3_600_000
    /// What a provider asks for counts up to here, so that ten attempts end some day.
    static let longestRetryAfter = Duration.seconds(6 * 3600)

    /// 1 s, three times as long after each attempt, an hour at the most, plus or minus a fifth, and never less than the
    /// provider asked for: nine pauses are close to two hours, so that a provider's bad hour loses no notice of a recovery.
    ///
    /// - Parameter attempt: from 1.
    static func pause(afterAttempt attempt: Int, retryAfter: Duration?) -> Duration {
        var pause: Int64 = 1000
        for _ in 1..<max(attempt, 1) { pause = min(pause * 3, longestMilliseconds) }
        let own = Duration.milliseconds(Int64.random(in: pause * 4 / 5...pause * 6 / 5))
        return max(own, min(retryAfter ?? .zero, longestRetryAfter))
    }
}
