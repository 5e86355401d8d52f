/// The share of its work that a new replica gets: its caches are cold and its connections not made yet.
enum SlowStart {
    /// Nanoseconds until it gets all of it.
    static let time: UInt64 = 2_000_000_000
    static let least = 0.1

    /// - Parameter age: nanoseconds since it was first ready.
    /// - Returns: grows evenly from a tenth to 1.
    static func share(age: UInt64) -> Double {
        least + (1 - least) * Double(min(age, time)) / Double(time)
    }

    /// The probability that a replica takes part in a choice in which the longest-serving one takes part for certain: who
    /// is alone, and who is as new as the others, is never held back.
    static func chance(age: UInt64, oldest: UInt64) -> Double { share(age: age) / share(age: max(age, oldest)) }
}
