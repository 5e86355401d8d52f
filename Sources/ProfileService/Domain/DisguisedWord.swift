import Foundation

/// A run of characters that stand for letters.
struct DisguisedWord: Sendable {
    enum Kind: Sendable { case letter, digit, sign }

    var letters: [Letters] = []
    private(set) var kinds: [Kind] = []
    /// The letters that it has by itself, in which allowed words are written.
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
        // The fourth of the same in a row says nothing new.
        guard letters.suffix(3) != [letter, letter, letter] else { return }
        letters.append(letter)
        kinds.append(kind)
        if let plain { self.plain.append(plain) }
    }

    func hasOnlySigns(before end: Int) -> Bool { kinds[..<end].allSatisfy { $0 != .letter } }
    func hasOnlySigns(from start: Int) -> Bool { kinds[start...].allSatisfy { $0 != .letter } }

    /// Letters enough that nobody reads a number in it, such as the road A55.
    func isReadable(_ range: Range<Int>) -> Bool {
        let digits = kinds[range].count { $0 == .digit }
        let left = letters[range].count { $0 == .all }
        return digits * 2 <= range.count && left * 2 <= range.count && kinds[range].contains(.letter)
    }

    /// One letter that is no word and no ending after an apostrophe or a full stop.
    var isFragment: Bool {
        letters.count == 1 && kinds[0] == .letter && letters[0].isDisjoint(with: Letters(of: "aiosuy"))
    }
}

/// Reads a text as the letters that its characters stand for.
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
                // Where more is left out, nobody can read a word.
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
        // Letters white on black, in circles and squares, which have no decomposition.
        case 0x1f150...0x1f169: return Letters(UInt8(scalar.value - 0x1f150) + 97)
        case 0x1f170...0x1f189: return Letters(UInt8(scalar.value - 0x1f170) + 97)
        default: return nil
        }
    }

    /// Accents, apostrophes and what has no width part no letters from each other.
    private func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: true
        default: scalar == "'" || scalar == "\u{2019}"
        }
    }
}
