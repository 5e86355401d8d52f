import ProcessRuntime

/// Verified tokens by the SHA-256 of the whole token, since a look costs a hundredth of a signature check. Two
/// generations bound it: when the young one is full, the old one is forgotten.
struct TokenMemory: Sendable {
    private let generation: Int
    private var young: [Key: AccessToken] = [:]
    private var old: [Key: AccessToken] = [:]

    /// A digest as four numbers, of which one is enough to look for it by.
    private struct Key: Hashable {
        let words: SIMD4<UInt64>

        /// - Parameter digest: 32 bytes.
        init(_ digest: [UInt8]) { words = digest.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) } }

        func hash(into hasher: inout Hasher) { hasher.combine(words.x) }
    }

    /// - Parameter capacity: tokens.
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
