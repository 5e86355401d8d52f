import EventLoop

/// A token bucket for each caller, in this process.
///
/// It remembers so many callers at most. For one more it forgets the one whose bucket is full again first: whoever has used
/// up their share is remembered, however many strangers come. A request costs a walk through a heap, never one over all.
struct RateLimiter<Key: Hashable & Sendable>: Sendable {
    private struct Bucket {
        var key: Key
        /// Of the monotonic clock, in nanoseconds; in the past for a bucket that is full.
        var fullAt: UInt64
        /// Where it stands in `heap`.
        var place: Int
    }

    /// Requests at once, and a minute.
    private let perMinute: Int
    private let mostCallers: Int
    private var buckets: [Bucket] = []
    private var indices: [Key: Int] = [:]
    /// Indices of the buckets; none is full again before that at half its place.
    private var heap: [Int] = []

    init(perMinute: Int, mostCallers: Int = 50_000) { (self.perMinute, self.mostCallers) = (perMinute, mostCallers) }

    /// - Parameters:
    ///   - shares: how many times the limit this caller has.
    ///   - now: nanoseconds of any steady clock.
    /// - Returns: `nil` where the request may pass, else the whole seconds to wait.
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

    /// A new one, or that of the caller who is forgotten.
    private mutating func bucket(for key: Key) -> Int {
        guard buckets.count >= mostCallers else {
            indices[key] = buckets.count
            // Full for ever: it goes to the top of the heap, and sinks from there.
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
