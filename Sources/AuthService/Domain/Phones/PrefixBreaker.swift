/// Decides which sends count the numbers of their prefix, to close it if too few of them are verified.
///
/// A count reads all codes that the prefix got within an hour. So a send to a prefix that is far from closing does not
/// count. If up to 15 replicas take turns, a prefix closes at the same send as if each counted. Otherwise it may close
/// some sends later, and at most five seconds later.
struct PrefixBreaker: Sendable {
    /// The numbers of a prefix to which strangers got codes within an hour.
    struct Count: Sendable, Equatable {
        var asked: Int64
        var verified: Int64

        /// How many more numbers must ask, and none be verified, until fewer than a tenth are verified.
        fileprivate var distance: Int64 { max(0, 10 * verified + 1 - asked) }
    }

    /// After a count, this share of the distance may pass without another one.
    private static let share: Int64 = 16
    /// A count is good for this long, since verified numbers leave the hour.
    private static let life = Duration.seconds(5)
    /// Prefixes are forgotten beyond this number, so that they do not fill the memory.
    private static let mostPrefixes = 10_000

    /// The sends that need no count, and until when.
    private var spared: [[UInt8]: (sends: Int64, until: UInt64)] = [:]

    /// Whether a send to the prefix must count.
    ///
    /// - Parameter now: nanoseconds of the monotonic clock.
    mutating func mustCount(_ prefix: [UInt8], now: UInt64) -> Bool {
        guard let left = spared[prefix], left.sends > 0, now < left.until else { return true }
        spared[prefix] = (left.sends - 1, left.until)
        return false
    }

    /// Notes what a send has counted.
    mutating func note(_ count: Count, of prefix: [UInt8], now: UInt64) {
        let sends = count.distance / Self.share
        guard sends > 0 else {
            spared[prefix] = nil
            return
        }
        if spared.count >= Self.mostPrefixes { spared.removeAll() }
        spared[prefix] = (sends, now + Self.life.nanoseconds)
    }
}
