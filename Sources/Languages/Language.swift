/// A language for texts to people.
///
/// The English texts stand in the code. Each other language is one file of this folder, with a translation of each
/// English text. The build ends if a translation is missing (`CheckLanguages`).
package struct Language: Sendable {
    /// The language tag (RFC 5646), such as `sv`.
    package let tag: String
    /// The translation of each English text. Inserted values are `{1}`, `{2}`.
    private let texts: [String: String]
    /// The texts with inserted values, the one with the most other characters first.
    private let patterns: [Pattern]

    init(tag: String, texts: [String: String]) {
        (self.tag, self.texts) = (tag, texts)
        patterns = texts.map { Pattern($0.key, text: $0.value) }.filter { $0.pieces.count > 1 }
            .sorted { ($1.length, $0.text) < ($0.length, $1.text) }
    }

    /// The language of every text in the code.
    package static let english = Language(tag: "en", texts: [:])
    /// English and each language that has a file.
    package static let all = [english] + files.map { Language(tag: $0.tag, texts: $0.texts) }

    /// The language with this tag, or English if there is none.
    package static func named(_ tag: String?) -> Language { all.first { $0.tag == tag } ?? english }

    /// The translation of an English text into this language, with the same inserted values. If a value is itself a
    /// known text, it is translated too. An unknown text stays as it is: a service of a later release may have sent it.
    package func translation(of english: String) -> String {
        if patterns.isEmpty { return english }
        if let text = texts[english] { return text }
        for pattern in patterns {
            guard let values = pattern.values(in: english) else { continue }
            return Self.fill(pattern.text, with: values.map { translation(of: $0) })
        }
        return english
    }

    /// The text in this language for an English one whose inserted values are `{1}`, `{2}`.
    func text(for english: String) -> String { texts[english] ?? english }

    /// Puts the values into a text in the places of `{1}`, `{2}`.
    static func fill(_ text: String, with values: [String]) -> String {
        var (filled, rest) = ("", text[...])
        while let start = rest.firstIndex(of: "{") {
            filled += rest[..<start]
            let digit = rest.index(after: start)
            if digit < rest.endIndex, let number = rest[digit].wholeNumberValue, values.indices.contains(number - 1),
                rest[digit...].dropFirst().first == "}"
            {
                filled += values[number - 1]
                rest = rest[digit...].dropFirst(2)
            } else {
                filled.append("{")
                rest = rest[digit...]
            }
        }
        return filled + rest
    }

    /// An English text with inserted values, and its translation.
    private struct Pattern: Sendable {
        /// The texts before, between and after the inserted values.
        let pieces: [String]
        let text: String

        /// The characters that are not inserted.
        var length: Int { pieces.reduce(0) { $0 + $1.utf8.count } }

        init(_ english: String, text: String) {
            self.text = text
            var (pieces, number) = ([""], 1)
            var rest = english[...]
            while let value = rest.firstRange(of: "{\(number)}") {
                pieces[number - 1] = String(rest[..<value.lowerBound])
                pieces.append("")
                rest = rest[value.upperBound...]
                number += 1
            }
            pieces[number - 1] = String(rest)
            self.pieces = pieces
        }

        /// The inserted values of a text; `nil` if it is another text.
        func values(in english: String) -> [String]? {
            guard let first = pieces.first, let last = pieces.last, english.hasPrefix(first) else { return nil }
            var (values, rest) = ([String](), english.dropFirst(first.count))
            for piece in pieces.dropFirst().dropLast() {
                guard let next = rest.firstRange(of: piece) else { return nil }
                values.append(String(rest[..<next.lowerBound]))
                rest = rest[next.upperBound...]
            }
            guard rest.hasSuffix(last), rest.count > last.count else { return nil }
            return values + [String(rest.dropLast(last.count))]
        }
    }
}
