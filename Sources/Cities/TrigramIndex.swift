/// An index of texts by trigrams: three bytes in a row. A word gets two spaces before it and one after it, as in
/// PostgreSQL's `pg_trgm`, so that its beginning has more weight than its middle.
struct TrigramIndex: Sendable {
    /// The number of buckets that all trigrams share. Callers compare the texts themselves, so collisions do no harm.
    private static let buckets = 65_536

    /// For each bucket, the index of its first text in `places`.
    private let starts: [Int32]
    private let places: [Int32]
    private let count: Int

    init(of texts: [Range<Int32>], in text: StaticText) {
        var starts = [Int32](repeating: 0, count: Self.buckets + 1)
        for range in texts { Self.each(in: text.bytes(range), isWhole: true) { starts[$0 + 1] += 1 } }
        for bucket in 0..<Self.buckets { starts[bucket + 1] += starts[bucket] }
        var next = starts
        var places = [Int32](repeating: 0, count: Int(starts[Self.buckets]))
        for (place, range) in texts.enumerated() {
            Self.each(in: text.bytes(range), isWhole: true) { bucket in
                places[Int(next[bucket])] = Int32(place)
                next[bucket] += 1
            }
        }
        (self.starts, self.places, count) = (starts, places, texts.count)
    }

    private subscript(bucket: Int) -> ArraySlice<Int32> { places[Int(starts[bucket])..<Int(starts[bucket + 1])] }

    /// The indices of texts with the query's rarest trigram, in order. An index may appear twice.
    func rarest(in query: [UInt8]) -> ArraySlice<Int32> {
        var rarest: ArraySlice<Int32>?
        Self.each(in: query, isWhole: false) { bucket in
            if self[bucket].count < rarest?.count ?? .max { rarest = self[bucket] }
        }
        return rarest ?? []
    }

    /// The indices of texts with at least `least` of the query's trigrams, in order.
    func sharing(_ least: Int, with query: [UInt8]) -> [Int32] {
        var shared = [UInt8](repeating: 0, count: count)
        Self.each(in: query, isWhole: true) { bucket in
            for place in self[bucket] where shared[Int(place)] < 255 { shared[Int(place)] += 1 }
        }
        return shared.indices.filter { Int(shared[$0]) >= least }.map { Int32($0) }
    }

    /// - Parameter isWhole: whether the last word is complete.
    private static func each(in text: some Sequence<UInt8>, isWhole: Bool, _ body: (Int) -> Void) {
        let space = UInt8(ascii: " ")
        var (first, second) = (space, space)
        for byte in text {
            body(bucket(first, second, byte))
            (first, second) = byte == space ? (space, space) : (second, byte)
        }
        if isWhole { body(bucket(first, second, space)) }
    }

    private static func bucket(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> Int {
        let all = UInt32(first) << 16 | UInt32(second) << 8 | UInt32(third)
        return Int((all &* 0x9E37_79B1) >> 16)
    }
}
