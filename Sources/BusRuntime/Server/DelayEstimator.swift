/// Tells how long the frames of one sender were on their way beyond the shortest way: in a queue, or before a process that
/// stood still. The two clocks have nothing to do with each other; the least difference between them stands for no delay.
///
/// Clocks drift apart, 50 ms in a quarter of an hour where nobody disciplines them, and a least difference of long ago
/// would then make every frame look delayed: only the last two windows count. They move with the frames and by one at the most, so that
/// the frames that lay before a process that stood still are held against those before it did.
struct DelayEstimator {
    /// Nanoseconds.
    static let window: UInt64 = 30_000_000_000

    private var shortest: Int64?
    private var shortestBefore: Int64?
    private var windowEnd: UInt64 = 0

    /// - Parameters:
    ///   - sentAtMs: by the sender's clock; 0 where it is not told.
    ///   - now: nanoseconds of the receiver's.
    /// - Returns: milliseconds.
    mutating func delay(sentAtMs: UInt64, now: UInt64) -> Int64 {
        // A clock that cannot be is none.
        guard sentAtMs > 0, sentAtMs < 1 << 60 else { return 0 }
        let way = Int64(now / 1_000_000) - Int64(sentAtMs)
        if now >= windowEnd {
            (shortestBefore, shortest, windowEnd) = (shortest, nil, now + Self.window)
        }
        shortest = min(shortest ?? way, way)
        return way - min(shortest ?? way, shortestBefore ?? way)
    }
}
