import Foundation

/// The time since boot. Setting the system's time does not change it.
package enum MonotonicClock {
    /// The nanoseconds since boot.
    package static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    private static let tick: UInt64 = 100_000_000
    /// Nanoseconds from one main tick to the next. Main ticks are the multiples of 300 ms since boot.
    package static let mainTick = 3 * tick

    /// The first aligned tick after an instant. Aligned ticks are the multiples of 100 ms since boot.
    ///
    /// A process does its repeated work at aligned ticks. Work that repeats each 300 ms or less often is done at main
    /// ticks. So an idle process wakes once for all of it. The processes of a machine wake together, so that each finds
    /// most of what the others send at once.
    ///
    /// - Parameter instant: nanoseconds since boot. The result has the same unit.
    package static func nextTick(after instant: UInt64) -> UInt64 { (instant / tick + 1) * tick }

    /// The aligned tick that is nearest to the end of a duration and lies in the future. It is a main tick if the
    /// duration is 300 ms or more.
    static func tick(about duration: Duration, after now: UInt64) -> UInt64 {
        let unit = duration.nanoseconds < mainTick ? tick : mainTick
        return ((now + max(duration.nanoseconds, unit / 2) - unit / 2) / unit + 1) * unit
    }
}

extension Duration {
    /// The whole nanoseconds: zero for a negative duration, and at most `Int64.max`.
    package var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < Int64.max / 1_000_000_000 else { return UInt64(Int64.max) }
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }

    /// The whole milliseconds, rounded down; zero for a negative duration.
    package var milliseconds: Int64 { Int64(nanoseconds / 1_000_000) }
}
