/// A person's preferred languages, from an `Accept-Language` header. Source: RFC 9110, 12.5.4.
package struct LanguagePreference: Sendable {
    /// Language tags in lower case, the preferred one first.
    private let wanted: [Substring]

    /// Reads a header. A range with an unreadable quality is ignored.
    package init(_ header: String) {
        // Spaces have no meaning in the header.
        let header = header.lowercased().filter { $0 != " " && $0 != "\t" }
        let ranges = header.split(separator: ",").enumerated().compactMap { order, part in
            let pieces = part.split(separator: ";")
            let quality = pieces.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            return pieces.first.map { (tag: $0, quality: quality, order: order) }
        }
        wanted = ranges.filter { $0.quality > 0 }.sorted { ($1.quality, $0.order) < ($0.quality, $1.order) }.map(\.tag)
    }

    /// Chooses the best available language, or the fallback if none fits. For `pt-BR`, it chooses `pt` if there is no
    /// `pt-BR`, and the other way round. Source: RFC 4647, 3.4.
    package func choose(from languages: [String], fallback: String) -> String {
        for tag in wanted where tag != "*" {
            var parts = tag.split(separator: "-")
            while !parts.isEmpty {
                let shorter = parts.joined(separator: "-")
                if let found = languages.first(where: { $0.lowercased() == shorter }) { return found }
                parts.removeLast()
            }
            if let found = languages.first(where: { $0.lowercased().hasPrefix("\(tag)-") }) { return found }
        }
        return fallback
    }
}
