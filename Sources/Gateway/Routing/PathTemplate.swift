import Foundation

/// A path with named parameters, such as `/users/me/devices/{id}`.
struct PathTemplate: Sendable, Hashable {
    enum Segment: Sendable, Hashable {
        case literal(String)
        case parameter(String)

        /// Whether a part of a path fits: a literal fits the same text, and a parameter fits any text but the empty
        /// one.
        func fits(_ part: String) -> Bool {
            switch self {
            case .literal(let text): part == text
            case .parameter: !part.isEmpty
            }
        }
    }

    let text: String
    let segments: [Segment]

    init(_ text: String) {
        self.text = text
        segments = Self.split(text).map { part in
            part.hasPrefix("{") && part.hasSuffix("}")
                ? .parameter(String(part.dropFirst().dropLast())) : .literal(part)
        }
    }

    var parameters: [String] {
        segments.compactMap { if case .parameter(let name) = $0 { name } else { nil } }
    }

    /// - Parameter path: percent-encoded segments.
    /// - Returns: the decoded parameters, or `nil` if the path does not match.
    func match(_ path: [String]) -> [String: String]? {
        guard path.count == segments.count, zip(segments, path).allSatisfy({ $0.fits($1) }) else { return nil }
        var values: [String: String] = [:]
        for (segment, part) in zip(segments, path) {
            guard case .parameter(let name) = segment else { continue }
            let isPlain = !part.utf8.contains(UInt8(ascii: "%"))
            guard let value = isPlain ? part : part.removingPercentEncoding else { return nil }
            values[name] = value
        }
        return values
    }

    /// Compares segments from the left. A literal is more exact than a parameter: `/users/me` beats `/users/{id}`.
    func isMoreExact(than other: PathTemplate) -> Bool {
        for (a, b) in zip(segments, other.segments) {
            switch (a, b) {
            case (.literal, .parameter): return true
            case (.parameter, .literal): return false
            default: continue
            }
        }
        return false
    }

    /// Both `/a/b` and `/a/` have two segments; the second one of `/a/` is empty.
    static func split(_ path: String) -> [String] {
        // It splits by bytes. Splitting by characters took a quarter of the gateway's work for an autosave.
        path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
    }
}
