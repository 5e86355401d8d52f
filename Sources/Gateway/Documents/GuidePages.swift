/// The guide for app developers (`docs/guide`) as HTML pages. They look like ``DocsPage`` and have its policy.
struct GuidePages: Sendable {
    private let pages: [String: [UInt8]]
    /// The text of the front page below its title, as HTML. It tells the topic of each page.
    let introduction: String

    /// - Parameter sources: the pages in Markdown, by their names without `.md`.
    init(_ sources: [String: String]) {
        func text(_ source: String) -> MarkdownText {
            MarkdownText(source) { Self.link(to: $0, among: sources) }
        }
        pages = sources.mapValues { Array(Self.html(text($0)).utf8) }
        introduction = text(String(sources["README"]?.drop { $0 != "\n" } ?? "")).html()
    }

    /// The guide that this program contains.
    static let embedded = GuidePages(embeddedSources)
    static let embeddedSources = Dictionary(
        uniqueKeysWithValues: EmbeddedFiles.Guide.all.map { ($0.name, $0.text.description) })

    /// The names of all pages.
    var names: [String] { pages.keys.sorted() }

    /// A page in UTF-8; `nil` if no page has this name.
    subscript(name: String) -> [UInt8]? { pages[name] }

    /// Addresses that a reader may try, and the address of the page that they mean.
    static let moved = [
        "/docs/": "/docs", "/docs/guide": "/docs/guide/README", "/docs/guide/": "/docs/guide/README",
    ]

    /// A link to a page of the guide or to a heading of the same page stays a link. The gateway does not serve other
    /// pages.
    static func link(to target: Substring, among sources: [String: String]) -> MarkdownText.Link? {
        if target.hasPrefix("#") { return MarkdownText.Link(address: String(target), title: "") }
        let parts = target.split(separator: "#", maxSplits: 1)
        guard let file = parts.first, file.hasSuffix(".md"), let source = sources[String(file.dropLast(3))] else {
            return nil
        }
        return MarkdownText.Link(
            address: "/docs/guide/\(file.dropLast(3))\(parts.count > 1 ? "#\(parts[1])" : "")",
            title: MarkdownText(source) { _ in nil }.title)
    }

    private static func html(_ text: MarkdownText) -> String {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8"/><title>\(text.title)</title>
        <meta name="viewport" content="width=device-width, initial-scale=1"/><style>\(DocsPage.style)</style></head><body><main>
        <p><a href="/docs/guide/README">The guide</a> · <a href="/docs">The API</a></p>
        \(text.html())</main></body></html>

        """
    }
}
