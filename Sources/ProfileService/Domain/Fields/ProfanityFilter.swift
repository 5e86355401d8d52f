import BusProtocol
import Foundation
import JSONText

/// Finds refused words in a text, also in disguise. It sees through spaces (`f u c k`, `fu ck`), repeated letters,
/// digits and signs for letters, and omitted letters (`f*ck`). It also sees through invisible characters and look-alike
/// letters of other scripts.
///
/// The lists of all languages apply to every text, since the language of a text is unknown. A word that is ordinary in
/// one language (`slut` is Swedish for "end") is allowed in all.
///
/// The filter does not find a refused word that consists of ordinary words (`pen is`). Nor does it find one that is
/// split after a letter that is often a word (`s hit`). It misses reversed words, rhymes, new words, other languages,
/// and bad meanings of harmless words.
struct ProfanityFilter: Sendable {
    struct Malformed: Error, Equatable { let entry: String }

    /// The lists of this release. A service with invalid lists does not start.
    static let shipped = Result { () throws(Malformed) in
        try ProfanityFilter(
            lists: [EmbeddedFiles.Profanity.refused_en.bytes, EmbeddedFiles.Profanity.refused_sv.bytes],
            lookAlikes: EmbeddedFiles.Profanity.look_alikes.bytes)
    }

    /// The refused words by their first letter.
    private var words: [Letters: [ProfanityWord]] = [:]
    private var allowed: Set<[Letters]> = []
    private let reader: DisguiseReader

    init(lists: [[UInt8]], lookAlikes: [UInt8]) throws(Malformed) {
        guard let members = try? JSONValue.parse(lookAlikes).objectValue else { throw Malformed(entry: "look-alikes") }
        reader = DisguiseReader(members.compactMapValues(\.stringValue))
        for list in lists {
            guard let list = try? JSONValue.parse(list), let refused = list["refused"]?.arrayValue,
                let allowed = list["allowed"]?.arrayValue
            else { throw Malformed(entry: "list") }
            for entry in refused.map({ $0.stringValue ?? "" }) {
                guard let word = ProfanityWord(entry) else { throw Malformed(entry: entry) }
                words[word.runs[0].letter, default: []].append(word)
            }
            self.allowed.formUnion(allowed.map { ($0.stringValue ?? "").utf8.map { Letters($0) } })
        }
    }

    func refuses(_ text: String) -> Bool {
        let tokens = reader.tokens(of: text)
        return tokens.contains { contains($0) } || spelled(tokens).contains { contains($0) } || isSplit(tokens)
    }

    private func contains(_ token: DisguisedWord) -> Bool {
        !allowed.contains(token.plain)
            && token.letters.indices.contains { start in
                matches(in: token, from: start) { word, end in
                    (word.startsAnywhere || token.hasOnlySigns(before: start))
                        && (word.endsAnywhere || token.hasOnlySigns(from: end))
                }
            }
    }

    private func matches(
        in token: DisguisedWord, from start: Int, where fits: (ProfanityWord, Int) -> Bool
    ) -> Bool {
        guard token.letters[start] != .all else { return false }
        return words.contains { first, words in
            token.letters[start].contains(first)
                && words.contains { word in
                    word.ends(in: token.letters, from: start).contains { end in
                        token.isReadable(start..<end) && fits(word, end)
                    }
                }
        }
    }

    /// Joins three or more single letters in a row to one word.
    private func spelled(_ tokens: [DisguisedWord]) -> [DisguisedWord] {
        tokens.split { $0.letters.count > 1 }.filter { $0.count >= 3 }.map { DisguisedWord(joining: $0) }
    }

    /// Whether there is a refused word of at least four letters that was cut into pieces that are not words.
    private func isSplit(_ tokens: [DisguisedWord]) -> Bool {
        tokens.indices.contains { first in
            (2...8).contains { count in
                guard first + count <= tokens.count else { return false }
                let pieces = tokens[first..<first + count]
                guard pieces.allSatisfy({ $0.letters.count <= 2 }) || count == 2 && pieces.contains(where: \.isFragment)
                else { return false }
                let whole = DisguisedWord(joining: pieces)
                return !allowed.contains(whole.plain)
                    && matches(in: whole, from: 0) { word, end in word.letters >= 4 && end == whole.letters.count }
            }
        }
    }
}
