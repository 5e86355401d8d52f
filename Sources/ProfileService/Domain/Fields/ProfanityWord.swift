/// A set of the letters a to z for which one character of a text may stand.
struct Letters: OptionSet, Sendable, Hashable {
    let rawValue: UInt32
    init(rawValue: UInt32) { self.rawValue = rawValue }

    static let all = Letters(rawValue: (1 << 26) - 1)

    /// Empty if the byte is not a letter from a to z.
    init(_ letter: UInt8) {
        rawValue = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter) ? 1 << UInt32(letter - 97) : 0
    }

    init(of text: String) { self = text.utf8.reduce(into: []) { $0.formUnion(Letters($1)) } }
}

/// A refused word of a list: `word` as a whole, `word*` at the start of a word, `*word*` anywhere in one.
struct ProfanityWord: Sendable {
    /// Each letter with its number of repetitions. A text may repeat it more often, but not less.
    let runs: [(letter: Letters, count: Int)]
    let letters: Int
    let startsAnywhere: Bool
    let endsAnywhere: Bool

    /// `nil` if the entry has other characters or fewer than three letters.
    init?(_ entry: String) {
        let bytes = entry.utf8.drop { $0 == UInt8(ascii: "*") }
        let core = bytes.prefix { $0 != UInt8(ascii: "*") }
        guard core.count >= 3, core.allSatisfy({ !Letters($0).isEmpty }), bytes.count - core.count <= 1 else {
            return nil
        }
        var runs: [(letter: Letters, count: Int)] = []
        for letter in core.map({ Letters($0) }) {
            if runs.last?.letter == letter { runs[runs.count - 1].count += 1 } else { runs.append((letter, 1)) }
        }
        self.runs = runs
        letters = core.count
        startsAnywhere = entry.hasPrefix("*")
        endsAnywhere = entry.hasSuffix("*")
    }

    /// The possible ends of the word if it begins at `start`. All readings of ambiguous characters are tried.
    func ends(in text: [Letters], from start: Int) -> [Int] { ends(in: text, from: start, run: 0) }

    private func ends(in text: [Letters], from start: Int, run: Int) -> [Int] {
        guard run < runs.count else { return [start] }
        var end = start
        // The reader keeps at most three repetitions of a letter. The limit bounds the number of readings.
        let last = min(text.count, start + runs[run].count + 4)
        while end < last, text[end].contains(runs[run].letter) { end += 1 }
        guard end - start >= runs[run].count else { return [] }
        return (start + runs[run].count...end).reversed().flatMap { ends(in: text, from: $0, run: run + 1) }
    }
}
