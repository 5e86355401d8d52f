/// Counts times in buckets whose width grows with the time, as HdrHistogram does.
///
/// A quantile is exact below 2,048 µs. Above that, it is too great by less than a thousandth.
struct LatencyHistogram: Sendable, Equatable {
    /// The buckets of each power of two have this many bits.
    private static let precision = 10
    private static let perPower = 1 << precision

    /// The array is only as long as the greatest time needs.
    private var counts: [Int] = []
    /// The number of times.
    private(set) var count = 0
    /// In microseconds; 0 while there are none.
    private(set) var greatest: UInt64 = 0

    /// Adds a time.
    mutating func note(microseconds: UInt64) {
        let bucket = Self.bucket(of: microseconds)
        if bucket >= counts.count { counts += [Int](repeating: 0, count: bucket + 1 - counts.count) }
        counts[bucket] += 1
        count += 1
        greatest = max(greatest, microseconds)
    }

    /// The microseconds that a share of all times did not exceed; 0 if there are none.
    ///
    /// - Parameter share: from 0 to 1.
    func quantile(_ share: Double) -> UInt64 {
        let rank = max(1, Int((share * Double(count)).rounded(.up)))
        var below = 0
        for (bucket, times) in counts.enumerated() {
            below += times
            if below >= rank { return min(Self.last(of: bucket), greatest) }
        }
        return greatest
    }

    private static func bucket(of microseconds: UInt64) -> Int {
        let shift = max(0, UInt64.bitWidth - microseconds.leadingZeroBitCount - precision - 1)
        return shift * perPower + Int(microseconds >> UInt64(shift))
    }

    /// The greatest time of a bucket.
    private static func last(of bucket: Int) -> UInt64 {
        let shift = max(0, bucket / perPower - 1)
        return (UInt64(bucket - shift * perPower + 1) << UInt64(shift)) - 1
    }
}
