/// Slow start: a new replica gets a growing share of requests, because its caches and connections are not ready yet.
enum SlowStart {
    /// The time until it gets its full share, in nanoseconds.
    static let time: UInt64 = 2_000_000_000
    static let least = 0.1

    /// The share of a replica.
    ///
    /// - Parameter age: nanoseconds since it was first ready.
    /// - Returns: a share that grows linearly from 0.1 to 1.
    static func share(age: UInt64) -> Double {
        least + (1 - least) * Double(min(age, time)) / Double(time)
    }

    /// The probability that a replica is a candidate, relative to the oldest replica. The oldest always is one.
    ///
    /// A single replica, or one as new as all others, is never held back.
    static func chance(age: UInt64, oldest: UInt64) -> Double { share(age: age) / share(age: max(age, oldest)) }
}
