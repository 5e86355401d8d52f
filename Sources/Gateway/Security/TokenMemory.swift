import ServiceRuntime

/// Verified tokens by the SHA-256 of the whole token, since a look costs a hundredth of a signature check. Two
/// generations bound it: when the young one is full, the old one is forgotten.
struct TokenMemory: Sendable {
    private let generation: Int
    private var young: [[UInt8]: AccessToken] = [:]
    private var old: [[UInt8]: AccessToken] = [:]

    /// - Parameter capacity: tokens.
    init(capacity: Int = 20_000) { generation = max(1, capacity / 2) }

    var count: Int { young.count + old.count }

    mutating func recall(_ digest: [UInt8]) -> AccessToken? {
        if let token = young[digest] { return token }
        guard let token = old.removeValue(forKey: digest) else { return nil }
        remember(token, digest)
        return token
    }

    mutating func remember(_ token: AccessToken, _ digest: [UInt8]) {
        if young.count >= generation { (old, young) = (young, [:]) }
        young[digest] = token
    }
}
