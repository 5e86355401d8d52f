/// A number that differs for most keys: the length, the first and the last byte. A search among a few keys first
/// compares these numbers, and then only few texts.
public struct KeyHash: Sendable, Equatable {
    @usableFromInline let number: Int

    /// The hash of a key.
    public init(_ key: String) {
        var key = key
        number = key.withUTF8 { $0.isEmpty ? 0 : $0.count << 16 | Int($0[0]) << 8 | Int($0[$0.count - 1]) }
    }

    /// Whether two keys may be equal.
    @inlinable public static func == (one: KeyHash, other: KeyHash) -> Bool { one.number == other.number }
}
