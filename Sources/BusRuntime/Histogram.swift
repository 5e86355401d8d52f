import EventLoop

/// Durations counted in buckets, as in Prometheus.
package struct Histogram: Codable, Sendable, Equatable {
    /// The upper bound of each bucket in microseconds; the last bucket has none. Both sides of the bus use these
    /// bounds, so other bounds need another name on the wire.
    package static let bounds: [UInt64] = [
        100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
        5_000_000, 10_000_000,
    ]

    /// The count of each bucket.
    package private(set) var counts: [Int]
    /// The sum of all durations, in microseconds.
    package private(set) var total: UInt64 = 0

    /// Makes an empty histogram.
    package init() { counts = Array(repeating: 0, count: Self.bounds.count + 1) }

    /// The number of durations.
    package var count: Int { counts.reduce(0, +) }

    /// Adds a duration.
    package mutating func note(nanoseconds: UInt64) {
        let microseconds = nanoseconds / 1000
        total += microseconds
        let bucket = Self.bounds.firstIndex { microseconds <= $0 } ?? Self.bounds.count
        counts[bucket] += 1
    }

    /// The sum of two histograms. Counts with another build's bounds are ignored.
    package func adding(_ other: Histogram) -> Histogram {
        guard counts.count == other.counts.count else { return self }
        var sum = self
        for index in counts.indices { sum.counts[index] += other.counts[index] }
        sum.total += other.total
        return sum
    }

    /// The values that were added since an earlier state of the same histogram.
    package func subtracting(_ earlier: Histogram) -> Histogram {
        guard counts.count == earlier.counts.count else { return self }
        var rest = self
        for index in counts.indices { rest.counts[index] = max(0, counts[index] - earlier.counts[index]) }
        rest.total = total >= earlier.total ? total - earlier.total : 0
        return rest
    }

    /// The duration that this share of all durations did not exceed; `nil` if there are none.
    ///
    /// It interpolates within a bucket, as Prometheus' `histogram_quantile` does. For the last bucket, it returns the
    /// lower bound.
    ///
    /// - Parameter share: from 0 to 1.
    package func quantile(_ share: Double) -> Duration? {
        let rank = share * Double(count)
        guard count > 0, counts.count == Self.bounds.count + 1 else { return nil }
        var (below, lower) = (0, 0.0)
        for (bucket, bound) in zip(counts, Self.bounds) {
            if bucket > 0, Double(below + bucket) >= rank {
                let inside = (rank - Double(below)) / Double(bucket)
                return .microseconds(Int64(lower + (Double(bound) - lower) * inside))
            }
            (below, lower) = (below + bucket, Double(bound))
        }
        return .microseconds(Int64(lower))
    }
}
