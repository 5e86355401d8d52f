/// The name of a state of a resource, without the quotes of the `ETag` header. Source: RFC 9110, 8.8.3.
public struct EntityTag: RawRepresentable, Hashable, Sendable {
    /// 1 to 64 visible ASCII characters.
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Makes the tag of a state that has a number and no name.
    public init(revision: Int64) { rawValue = "r\(revision)" }

    /// The tag in the form of the `ETag` header.
    public var quoted: String { "\"\(rawValue)\"" }

    /// Whether `If-Match` names this state. No weak tag does, since the comparison is strong (RFC 9110, section 13.1.1).
    ///
    /// - Parameter header: `*`, or a list of tags. A tag may say more after a hyphen: `"r7-0a1b2c3d"` names the state `r7`.
    package func isNamed(by header: String) -> Bool {
        header == "*" || Self.listed(in: header).contains { $0 == quoted || $0.hasPrefix("\"\(rawValue)-") }
    }

    /// The parts of a header that lists entity tags, as they stand there: `*`, `"r7"`, or `W/"r7"` if the tag is weak.
    package static func listed(in header: String) -> [Substring] {
        header.split { $0 == "," || $0 == " " || $0 == "\t" }
    }
}
