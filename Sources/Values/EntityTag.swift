/// The name of a state of a resource, without the quotes of the `ETag` header. Source: RFC 9110, 8.8.3.
public struct EntityTag: RawRepresentable, Hashable, Sendable {
    /// 1 to 64 visible ASCII characters.
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Makes the tag of a state that has a number and no name.
    public init(revision: Int64) { rawValue = "r\(revision)" }

    /// The tag in the form of the `ETag` header.
    public var quoted: String { "\"\(rawValue)\"" }
}
