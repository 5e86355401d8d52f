/// Markdown as HTML, in the subset that the guide uses.
///
/// It knows headings, paragraphs, lists, tables, blocks of code, `` `code` ``, `**strong**` and links. Everything else
/// is text and is escaped, so no markup of the source gets through.
struct MarkdownText {
    private var lines: ArraySlice<Substring>
    private let link: (Substring) -> Link?

    /// The target of a link.
    struct Link {
        let address: String
        /// The text to show in place of a file's name, as HTML.
        let title: String
    }

    /// - Parameter link: returns the link for a target in the source; `nil` leaves only the link's text.
    init(_ source: String, link: @escaping (Substring) -> Link?) {
        lines = source.split(separator: "\n", omittingEmptySubsequences: false)[...]
        self.link = link
    }

    /// The text of the first heading, as HTML.
    var title: String { lines.first { $0.hasPrefix("# ") }.map { inline($0.dropFirst(2)) } ?? "" }

    /// The text without blocks, as HTML.
    var line: String { inline(lines.joined(separator: "\n")[...]) }

    /// The blocks of the text, as HTML.
    func html() -> String {
        var rest = self
        var blocks: [String] = []
        while let line = rest.lines.first {
            if line.isEmpty { rest.lines.removeFirst() } else { blocks.append(rest.takeBlock(line)) }
        }
        return blocks.joined(separator: "\n")
    }

    /// - Parameter line: the first line, which is not empty.
    private mutating func takeBlock(_ line: Substring) -> String {
        if line.hasPrefix("```") { return takeCode() }
        if line.hasPrefix("#") { return takeHeading() }
        if line.hasPrefix("|") { return takeTable() }
        if let marker = Self.marker(line) { return takeList(isOrdered: marker != "- ") }
        return "<p>\(inline(takeLines { !$0.isEmpty && !$0.hasPrefix("```") }.joined(separator: "\n")[...]))</p>"
    }

    private mutating func takeLines(while belongs: (Substring) -> Bool) -> ArraySlice<Substring> {
        let taken = lines.prefix(while: belongs)
        lines = lines.dropFirst(taken.count)
        return taken
    }

    private mutating func takeCode() -> String {
        lines.removeFirst()
        let code = takeLines { !$0.hasPrefix("```") }
        lines = lines.dropFirst()
        return "<pre>\(DocsPage.escaped(code.joined(separator: "\n")))</pre>"
    }

    private mutating func takeHeading() -> String {
        let line = lines.removeFirst()
        let level = min(6, line.prefix { $0 == "#" }.count)
        let text = line.drop { $0 == "#" }.drop { $0 == " " }
        return "<h\(level) id=\"\(Self.anchor(text))\">\(inline(text))</h\(level)>"
    }

    private mutating func takeTable() -> String {
        let rows = takeLines { $0.hasPrefix("|") }.filter { !$0.hasPrefix("|---") }
        let html = rows.enumerated().map { index, row in
            let name = index == 0 ? "th" : "td"
            let cells = row.split(separator: "|").map { "<\(name)>\(inline($0.trimmed))</\(name)>" }
            return "<tr>\(cells.joined())</tr>"
        }
        return "<div tabindex=\"0\"><table>\(html.joined(separator: "\n"))</table></div>"
    }

    private mutating func takeList(isOrdered: Bool) -> String {
        var items: [String] = []
        for line in takeLines(while: { !$0.isEmpty }) {
            if let marker = Self.marker(line) {
                items.append(String(line.dropFirst(marker.count)))
            } else if let last = items.popLast() {
                items.append("\(last)\n\(line.trimmed)")
            }
        }
        let name = isOrdered ? "ol" : "ul"
        return "<\(name)>\(items.map { "<li>\(inline($0[...]))</li>" }.joined(separator: "\n"))</\(name)>"
    }

    /// The beginning of an item of a list: `- `, or a number with `. `.
    private static func marker(_ line: Substring) -> Substring? {
        if line.hasPrefix("- ") { return line.prefix(2) }
        let digits = line.prefix { $0.isNumber }
        return !digits.isEmpty && line.dropFirst(digits.count).hasPrefix(". ") ? line.prefix(digits.count + 2) : nil
    }

    // MARK: In a line

    private func inline(_ text: Substring) -> String {
        var (rest, html) = (text, "")
        while let character = rest.first {
            if let (inner, after) = Self.between("`", "`", rest) {
                (html, rest) = (html + "<code>\(DocsPage.escaped(String(inner)))</code>", after)
            } else if let (inner, after) = Self.between("**", "**", rest) {
                (html, rest) = (html + "<strong>\(inline(inner))</strong>", after)
            } else if let (label, target) = Self.between("[", "](", rest), let end = target.firstIndex(of: ")") {
                (html, rest) = (html + anchored(label, to: target[..<end]), target[end...].dropFirst())
            } else {
                (html, rest) = (html + DocsPage.escaped(String(character)), rest.dropFirst())
            }
        }
        return html
    }

    private func anchored(_ label: Substring, to target: Substring) -> String {
        guard let link = link(target) else { return inline(label) }
        return
            "<a href=\"\(DocsPage.escaped(link.address))\">\(label.hasSuffix(".md") ? link.title : inline(label))</a>"
    }

    /// The text between two marks, and what comes after it, if `text` begins with the first mark.
    private static func between(_ start: String, _ end: String, _ text: Substring) -> (Substring, Substring)? {
        guard text.hasPrefix(start) else { return nil }
        let inner = text.dropFirst(start.count)
        return inner.firstRange(of: end).map { (inner[..<$0.lowerBound], inner[$0.upperBound...]) }
    }

    /// The name of a heading in a link: lower case, `-` for spaces, without punctuation.
    private static func anchor(_ text: Substring) -> String {
        String(text.lowercased().compactMap { $0 == " " ? "-" : $0.isLetter || $0.isNumber || $0 == "-" ? $0 : nil })
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let start = drop { $0 == " " }
        return start.dropLast(start.reversed().prefix { $0 == " " }.count)
    }
}
