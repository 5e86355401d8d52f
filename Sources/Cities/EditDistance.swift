/// Counts typing errors: an added, a missing or a wrong letter, or two exchanged letters.
struct EditDistance {
    private let text: [UInt8]
    /// The most errors that are counted.
    private let most: Int
    /// The last three rows of the matrix. All comparisons reuse them, since a search compares thousands of names with
    /// one text.
    private var before: [Int]
    private var last: [Int]
    private var current: [Int]

    init(in text: [UInt8], most: Int) {
        (self.text, self.most) = (text, most)
        current = [Int](repeating: 0, count: text.count + most + 2)
        (before, last) = (current, current)
    }

    /// The fewest errors that turn the beginning of another text into this one.
    ///
    /// Source: L. Boytsov, "Indexing Methods for Approximate Dictionary Searching", 2011: optimal string alignment. It
    /// calculates only the cells near the diagonal, since other cells have too many errors.
    ///
    /// - Returns: `nil` if there are more than `most`.
    mutating func count<Other: RandomAccessCollection>(toBeginOf other: Other) -> Int?
    where Other.Element == UInt8, Other.Index == Int {
        let length = min(other.count, text.count + most)
        guard length >= text.count - most else { return nil }
        let begin = other.startIndex
        for column in 0...length { current[column] = min(column, most + 1) }
        for row in 1..<(text.count + 1) {
            (before, last, current) = (last, current, before)
            let (first, final) = (max(row - most, 0), min(row + most, length))
            if first > 0 { current[first - 1] = most + 1 }
            var best = most + 1
            for column in first...final {
                let count = column == 0 ? row : cell(row, column, other, begin)
                current[column] = min(count, most + 1)
                best = min(best, count)
            }
            if final < length { current[final + 1] = most + 1 }
            guard best <= most else { return nil }
        }
        return current[max(text.count - most, 0)...length].min().flatMap { $0 <= most ? $0 : nil }
    }

    private func cell<Other: RandomAccessCollection>(
        _ row: Int, _ column: Int, _ other: Other, _ begin: Int
    ) -> Int where Other.Element == UInt8, Other.Index == Int {
        let (mine, theirs) = (text[row - 1], other[begin + column - 1])
        var count = min(last[column - 1] + (mine == theirs ? 0 : 1), last[column] + 1, current[column - 1] + 1)
        if row > 1, column > 1, mine == other[begin + column - 2], text[row - 2] == theirs {
            count = min(count, before[column - 2] + 1)
        }
        return count
    }
}
