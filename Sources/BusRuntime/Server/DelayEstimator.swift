/// Estimates the delay of one sender's frames beyond the shortest delay, in a queue or before a paused process.
///
/// The two clocks are unrelated. The smallest difference between them counts as no delay.
///
/// Clocks drift apart, by 50 ms in a quarter of an hour without synchronisation. An old smallest difference would make
/// every frame look delayed, so only the last two windows count.
///
/// The windows advance with the frames, by at most one. So frames that waited for a paused process are compared with
/// the frames before the pause.
struct DelayEstimator {
    /// Nanoseconds.
    static let window: UInt64 = 30_000_000_000

    private var shortest: Int64?
    private var shortestBefore: Int64?
    private var windowEnd: UInt64 = 0

    /// The delay of a frame.
    ///
    /// - Parameters:
    ///   - sentAtMs: by the sender's clock; 0 if unknown.
    ///   - now: by the receiver's clock, in nanoseconds.
    /// - Returns: milliseconds.
    mutating func delay(sentAtMs: UInt64, now: UInt64) -> Int64 {
        // An impossible time counts as unknown.
        guard sentAtMs > 0, sentAtMs < 1 << 60 else { return 0 }
        let way = Int64(now / 1_000_000) - Int64(sentAtMs)
        if now >= windowEnd {
            (shortestBefore, shortest, windowEnd) = (shortest, nil, now + Self.window)
        }
        shortest = min(shortest ?? way, way)
        return way - min(shortest ?? way, shortestBefore ?? way)
    }
}
