import Foundation

/// A run of characters that stand for letters.
struct DisguisedWord: Sendable {
    enum Kind: Sendable { case letter, digit, sign }

    var letters: [Letters] = []
    private(set) var kinds: [Kind] = []
    /// The letters without any disguise, for comparison with allowed words.
    private(set) var plain: [Letters] = []

    init() {}

    init(joining pieces: some Sequence<DisguisedWord>) {
        for piece in pieces {
            letters += piece.letters
            kinds += piece.kinds
            plain += piece.plain
        }
    }

    mutating func append(_ letter: Letters, _ kind: Kind, plain: Letters?) {
        // More than three of the same letter in a row make no difference.
        guard letters.suffix(3) != [letter, letter, letter] else { return }
        letters.append(letter)
        kinds.append(kind)
        if let plain { self.plain.append(plain) }
    }

    func hasOnlySigns(before end: Int) -> Bool { kinds[..<end].allSatisfy { $0 != .letter } }
    func hasOnlySigns(from start: Int) -> Bool { kinds[start...].allSatisfy { $0 != .letter } }

    /// Whether there are enough letters for a word. A number such as the road A55 is not one.
    func isReadable(_ range: Range<Int>) -> Bool {
        let digits = kinds[range].count { $0 == .digit }
        let left = letters[range].count { $0 == .all }
        return digits * 2 <= range.count && left * 2 <= range.count && kinds[range].contains(.letter)
    }

    /// Whether this is a single letter that is neither a word nor an ending after an apostrophe or a full stop.
    var isFragment: Bool {
        letters.count == 1 && kinds[0] == .letter && letters[0].isDisjoint(with: Letters(of: "aiosuy"))
    }
}

/// Reads the characters of a text as the letters that they stand for.
struct DisguiseReader: Sendable {
    private let lookAlikes: [Unicode.Scalar: Letters]

    init(_ table: [String: String]) {
        lookAlikes = table.reduce(into: [:]) { known, entry in
            if let scalar = entry.key.unicodeScalars.first { known[scalar] = Letters(of: entry.value) }
        }
    }

    func tokens(of text: String) -> [DisguisedWord] {
        var tokens: [DisguisedWord] = []
        var token = DisguisedWord()
        func end() {
            if !token.letters.isEmpty { tokens.append(token) }
            token = DisguisedWord()
        }
        for scalar in text.lowercased().decomposedStringWithCompatibilityMapping.lowercased().unicodeScalars {
            if isInvisible(scalar) { continue }
            if scalar == "*" || scalar == "#" {
                // With more than three letters left out, nobody can read the word.
                if token.letters.isEmpty || token.letters.count(where: { $0 == .all }) == 3 {
                    end()
                } else {
                    token.append(.all, .sign, plain: nil)
                }
            } else if let letters = letters(scalar), !letters.isEmpty {
                let isLetter = scalar.properties.isAlphabetic
                let kind: DisguisedWord.Kind =
                    isLetter ? .letter : scalar.properties.numericType == nil ? .sign : .digit
                token.append(letters, kind, plain: isLetter ? Letters(UInt8(truncatingIfNeeded: scalar.value)) : nil)
            } else {
                end()
            }
        }
        end()
        return tokens
    }

    private func letters(_ scalar: Unicode.Scalar) -> Letters? {
        if let known = lookAlikes[scalar] { return known }
        switch scalar.value {
        case 0x61...0x7a: return Letters(UInt8(scalar.value))
        // White letters in black circles and squares have no Unicode decomposition.
        case 0x1f150...0x1f169: return Letters(UInt8(scalar.value - 0x1f150) + 97)
        case 0x1f170...0x1f189: return Letters(UInt8(scalar.value - 0x1f170) + 97)
        default: return nil
        }
    }

    /// Whether a character does not separate letters: an accent, an apostrophe, or a character without width.
    private func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: true
        default: scalar == "'" || scalar == "\u{2019}"
        }
    }
}
