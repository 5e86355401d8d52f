/// Finds the texts for people among the string literals of a Swift file.
///
/// A literal on one line is such a text if three things hold. It begins with a capital letter, `“`, `{` or an inserted
/// value. It has a space. It has two lower-case letters in a row. In `Sentence("to sign in")` and as the title of an
/// error, any words count. `counted("second")` gives the texts `1 second` and `{1} seconds`. Inserted values are `{1}`,
/// `{2}` in their order.
struct TextFinder {
    private let bytes: [UInt8]
    private var place = 0
    private var found: [String] = []

    init(_ source: String) { bytes = Array(source.utf8) }

    /// The texts in the order of the file. A text may occur more than once.
    mutating func texts() -> [String] {
        while place < bytes.count {
            if has("//") {
                skip(past: "\n")
            } else if has("#\"") {
                skip(past: "\"#")
            } else if bytes[place] == UInt8(ascii: "\"") {
                literal()
            } else {
                place += 1
            }
        }
        return found
    }

    /// Reads the literal that begins here, and the literals in its inserted values.
    private mutating func literal() {
        let before = bytes[..<place]
        let isLong = has("\"\"\"")
        let quote = isLong ? "\"\"\"" : "\""
        place += quote.utf8.count
        var (text, values) = ([UInt8](), 0)
        while place < bytes.count, !has(quote) {
            if has("\\(") {
                inserted()
                values += 1
                text += Array("{\(values)}".utf8)
            } else if has("\\") {
                place += 1
                if place < bytes.count { text.append(bytes[place]) }
                place += 1
            } else {
                text.append(bytes[place])
                place += 1
            }
        }
        place += quote.utf8.count
        guard !isLong else { return }
        let words = String(decoding: text, as: UTF8.self)
        if before.hasSuffix(".counted(") {
            found += ["1 \(words)", "{1} \(words)s"]
        } else if before.hasSuffix("Sentence(") || before.isBeforeTitle || Self.isForPeople(words) {
            found.append(words)
        }
    }

    private mutating func inserted() {
        place += 2
        var depth = 1
        while place < bytes.count, depth > 0 {
            switch bytes[place] {
            case UInt8(ascii: "\""):
                literal()
                continue
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"): depth -= 1
            default: break
            }
            place += 1
        }
    }

    private static func isForPeople(_ text: String) -> Bool {
        guard let first = text.first, first == "{" || first == "“" || first.isUppercase, text.contains(" ") else {
            return false
        }
        guard !sql.contains(where: { text.hasPrefix($0) }) else { return false }
        return zip(text, text.dropFirst()).contains { $0.isLowercase && $1.isLowercase }
    }

    /// The beginnings of SQL statements.
    private static let sql = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH ", "LOCK ", "SET "]

    private func has(_ text: String) -> Bool { bytes[place...].starts(with: text.utf8) }

    private mutating func skip(past end: String) {
        while place < bytes.count, !has(end) { place += 1 }
        place += end.utf8.count
    }
}

extension ArraySlice<UInt8> {
    /// Whether this ends as in `ErrorCode("forbidden", .permissionDenied, http: 403, `.
    fileprivate var isBeforeTitle: Bool {
        guard hasSuffix(", ") else { return false }
        let digits = dropLast(2).reversed().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return !digits.isEmpty && dropLast(2 + digits.count).hasSuffix("http: ")
    }

    fileprivate func hasSuffix(_ text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
