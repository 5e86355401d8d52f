import ProcessRuntime

/// A cache of verified tokens by their SHA-256. A look-up takes a hundredth of the time of a signature check.
///
/// Two generations bound its size: when the young one is full, it replaces the old one.
struct TokenMemory: Sendable {
    private let generation: Int
    private var young: [Key: AccessToken] = [:]
    private var old: [Key: AccessToken] = [:]

    /// A digest as four numbers. One of them is enough for hashing.
    private struct Key: Hashable {
        let words: SIMD4<UInt64>

        /// - Parameter digest: 32 bytes.
        init(_ digest: [UInt8]) { words = digest.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) } }

        func hash(into hasher: inout Hasher) { hasher.combine(words.x) }
    }

    /// - Parameter capacity: the number of tokens of both generations.
    init(capacity: Int = 20_000) { generation = max(1, capacity / 2) }

    var count: Int { young.count + old.count }

    mutating func recall(_ digest: [UInt8]) -> AccessToken? {
        let key = Key(digest)
        if let token = young[key] { return token }
        guard let token = old.removeValue(forKey: key) else { return nil }
        remember(token, digest)
        return token
    }

    mutating func remember(_ token: AccessToken, _ digest: [UInt8]) {
        if young.count >= generation { (old, young) = (young, [:]) }
        young[Key(digest)] = token
    }
}
