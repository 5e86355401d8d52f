import EventLoop

/// A token bucket for each caller, in this process.
struct RateLimiter<Key: Hashable & Sendable>: Sendable {
    private struct Bucket {
        var tokens: Double
        var at: UInt64
    }

    /// Requests at once, and a minute.
    private let perMinute: Double
    private var buckets: [Key: Bucket] = [:]
    private let largestCount = 50_000

    init(perMinute: Int) { self.perMinute = Double(perMinute) }

    /// - Parameter now: nanoseconds of any steady clock.
    /// - Returns: `nil` where the request may pass, else the whole seconds to wait.
    mutating func refusal(for key: Key, now: UInt64) -> Int64? {
        let perNanosecond = perMinute / 60_000_000_000
        var bucket = buckets[key] ?? Bucket(tokens: perMinute, at: now)
        bucket.tokens = min(perMinute, bucket.tokens + Double(now - bucket.at) * perNanosecond)
        bucket.at = now
        let passes = bucket.tokens >= 1
        if passes { bucket.tokens -= 1 }
        if buckets.count >= largestCount { forgetTheQuiet(now) }
        buckets[key] = bucket
        return passes ? nil : max(1, Int64(((1 - bucket.tokens) / perNanosecond / 1_000_000_000).rounded(.up)))
    }

    /// Who asked nothing for a minute has a full bucket, like a stranger.
    private mutating func forgetTheQuiet(_ now: UInt64) {
        buckets = buckets.filter { now - $0.value.at < 60_000_000_000 }
        if buckets.count >= largestCount { buckets = [:] }
    }
}
