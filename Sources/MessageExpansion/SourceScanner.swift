/// Finds the members of a type in its source. It understands only brackets, comments and string literals.
struct SourceScanner {
    /// One declaration in the body of the type.
    struct Member {
        /// The first paragraph of its doc comment, in one line.
        var words: String
        /// Its attributes, such as `@Field(…)`.
        var attributes: [Substring]
        /// The code after the attributes.
        var code: String
        /// The place in bytes, from the start of the source.
        var offset: Int

        /// The arguments of an attribute, separated at commas.
        func arguments(of attribute: String) -> [Substring] {
            for text in attributes where text.hasPrefix("@\(attribute)(") {
                return SourceScanner.split(text.dropFirst(attribute.count + 2).dropLast(), at: ",")
            }
            return []
        }
    }

    private let source: String
    init(_ source: String) { self.source = source }

    /// The first paragraph of the type's doc comment, in one line.
    var words: String {
        var words: [Substring] = []
        for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
            let start = line.drop { $0.isWhitespace }
            if start.hasPrefix("///") {
                let text = start.dropFirst(3).drop { $0 == " " }
                if text.isEmpty { break }
                words.append(text)
            } else if !start.isEmpty, !start.hasPrefix("//") {
                break
            }
        }
        return words.joined(separator: " ")
    }

    /// The declarations between the outermost braces.
    func members() -> [Member] {
        let parts = Self.split(source[...], at: "{")
        guard parts.count > 1, let open = parts.first?.endIndex, let close = source.lastIndex(of: "}") else {
            return []
        }
        var members: [Member] = []
        var (words, isFirstParagraph, attributes) = ([Substring](), true, [Substring]())
        for line in Self.split(source[source.index(after: open)..<close], at: "\n") {
            let start = line.drop { $0.isWhitespace }
            if start.hasPrefix("///") {
                let text = start.dropFirst(3).drop { $0 == " " }
                if text.isEmpty { isFirstParagraph = false }
                if isFirstParagraph { words.append(text) }
            } else if !start.isEmpty, !start.hasPrefix("//") {
                let member = member(start, words.joined(separator: " "), behind: attributes)
                // Attributes may be on lines of their own.
                attributes = member.code.isEmpty ? member.attributes : []
                guard !member.code.isEmpty else { continue }
                members.append(member)
                (words, isFirstParagraph) = ([], true)
            }
        }
        return members
    }

    private func member(_ text: Substring, _ words: String, behind above: [Substring]) -> Member {
        let offset = source.utf8.distance(from: source.startIndex, to: text.startIndex)
        var (rest, attributes) = (text, above)
        while rest.hasPrefix("@") {
            let name = rest.dropFirst().prefix { $0.isLetter || $0.isNumber || $0 == "_" }
            var end = name.endIndex
            if end < rest.endIndex, rest[end] == "(" { end = Self.end(of: rest[end...]) }
            attributes.append(rest[rest.startIndex..<end])
            rest = rest[end...].drop { $0.isWhitespace }
        }
        return Member(words: words, attributes: attributes, code: Self.withoutComment(rest).trimmed, offset: offset)
    }

    /// The text before a trailing comment.
    private static func withoutComment(_ text: Substring) -> Substring {
        var index = text.startIndex
        while index < text.endIndex, !text[index...].hasPrefix("//") {
            index =
                skipped(text, at: index)
                ?? ("([{".contains(text[index]) ? end(of: text[index...]) : text.index(after: index))
        }
        return text[..<index]
    }

    /// The position after the bracket that closes the first one.
    private static func end(of text: Substring) -> Substring.Index {
        var index = text.startIndex
        var depth = 0
        while index < text.endIndex {
            if let past = skipped(text, at: index) {
                index = past
                continue
            }
            if "([{".contains(text[index]) { depth += 1 }
            if ")]}".contains(text[index]) { depth -= 1 }
            index = text.index(after: index)
            if depth == 0 { break }
        }
        return index
    }

    /// The parts of a text between separators. Separators in brackets, comments and strings do not count.
    static func split(_ text: Substring, at separator: Character) -> [Substring] {
        var (parts, start, index) = ([Substring](), text.startIndex, text.startIndex)
        while index < text.endIndex {
            if let past = skipped(text, at: index) {
                index = past
            } else if text[index] == separator {
                parts.append(text[start..<index])
                index = text.index(after: index)
                start = index
            } else if "([{".contains(text[index]) {
                index = end(of: text[index...])
            } else {
                index = text.index(after: index)
            }
        }
        return start == text.endIndex ? parts : parts + [text[start...]]
    }

    /// The position after a comment or a string that begins here; `nil` if none begins.
    private static func skipped(_ text: Substring, at index: Substring.Index) -> Substring.Index? {
        let rest = text[index...]
        if rest.hasPrefix("//") { return rest.firstIndex(of: "\n") ?? text.endIndex }
        guard rest.hasPrefix("\"") else { return nil }
        var end = text.index(after: index)
        while end < text.endIndex, text[end] != "\"" {
            end = text.index(end, offsetBy: text[end] == "\\" ? 2 : 1, limitedBy: text.endIndex) ?? text.endIndex
        }
        return end < text.endIndex ? text.index(after: end) : end
    }
}
