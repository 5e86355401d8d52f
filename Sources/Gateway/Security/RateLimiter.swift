import EventLoop

/// A token bucket for each caller, in the memory of this process.
///
/// The number of buckets is bounded. For a new caller beyond that number, the limiter drops the bucket that is full
/// first. So despite a flood of new callers, it remembers a caller who used up the limit. A request takes logarithmic
/// time.
struct RateLimiter<Key: Hashable & Sendable>: Sendable {
    private struct Bucket {
        var key: Key
        /// When the bucket is full again, in nanoseconds of the monotonic clock. It is in the past for a full bucket.
        var fullAt: UInt64
        /// The index in `heap`.
        var place: Int
    }

    /// Both the size of a bucket and the number of tokens added a minute.
    private let perMinute: Int
    private let mostCallers: Int
    private var buckets: [Bucket] = []
    private var indices: [Key: Int] = [:]
    /// A binary heap of indices into `buckets`: the bucket that is full first is at the top.
    private var heap: [Int] = []

    init(perMinute: Int, mostCallers: Int = 50_000) { (self.perMinute, self.mostCallers) = (perMinute, mostCallers) }

    /// - Parameters:
    ///   - shares: the factor by which this caller's limit is larger than `perMinute`.
    ///   - now: nanoseconds of a monotonic clock.
    /// - Returns: `nil` if the request may pass, else the whole seconds to wait.
    mutating func refusal(for key: Key, shares: Int = 1, now: UInt64) -> Int64? {
        let perToken = 60_000_000_000 / UInt64(perMinute * shares)
        let whole = perToken * UInt64(perMinute * shares)
        let index = indices[key]
        let fullAt = max(index.map { buckets[$0].fullAt } ?? 0, now) + perToken
        guard fullAt <= now + whole else { return max(1, Int64((fullAt - now - whole + 999_999_999) / 1_000_000_000)) }
        let bucket = index ?? bucket(for: key)
        buckets[bucket].fullAt = fullAt
        sink(from: buckets[bucket].place)
        return nil
    }

    /// Returns the index of a bucket for a new caller. If all buckets are in use, it takes the one that is full first.
    private mutating func bucket(for key: Key) -> Int {
        guard buckets.count >= mostCallers else {
            indices[key] = buckets.count
            // The time 0 brings the bucket to the top of the heap. It sinks once the caller of this function sets the
            // time.
            buckets.append(Bucket(key: key, fullAt: 0, place: heap.count))
            heap.append(buckets.count - 1)
            rise(from: heap.count - 1)
            return buckets.count - 1
        }
        let index = heap[0]
        indices[buckets[index].key] = nil
        buckets[index].key = key
        indices[key] = index
        return index
    }

    private mutating func rise(from place: Int) {
        var place = place
        while place > 0, fullAt((place - 1) / 2) > fullAt(place) {
            swap(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func sink(from place: Int) {
        var place = place
        while true {
            var least = 2 * place + 1
            guard least < heap.count else { return }
            if least + 1 < heap.count, fullAt(least + 1) < fullAt(least) { least += 1 }
            guard fullAt(least) < fullAt(place) else { return }
            swap(place, least)
            place = least
        }
    }

    private func fullAt(_ place: Int) -> UInt64 { buckets[heap[place]].fullAt }

    private mutating func swap(_ first: Int, _ second: Int) {
        heap.swapAt(first, second)
        buckets[heap[first]].place = first
        buckets[heap[second]].place = second
    }
}
