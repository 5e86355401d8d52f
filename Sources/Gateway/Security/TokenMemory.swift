import BusProtocol
import ProcessRuntime

/// A verified token, and when its use was last reported to auth.
struct KnownToken: Sendable {
    let token: AccessToken
    /// In seconds since 1970; `nil` before the first report.
    private var reportedAt: Int64?

    init(_ token: AccessToken) { self.token = token }

    /// The report to send for a use of the token; `nil` if none is due. The report counts as sent.
    ///
    /// - Parameter now: seconds since 1970.
    mutating func report(now: Int64) -> NoteTokenUse? {
        let settled = token.issuedAt + NoteTokenUse.settling
        let isNews = reportedAt.map { $0 < settled && now >= settled } ?? true
        let isKnown = reportedAt != nil || now < token.issuedAt + NoteTokenUse.concern
        guard isNews, isKnown, let id = token.id else { return nil }
        reportedAt = now
        return NoteTokenUse(sessionID: token.actor.sessionID, tokenID: id)
    }
}

/// A cache of verified tokens by their SHA-256. A look-up takes a hundredth of the time of a signature check.
///
/// Two generations bound its size: when the young one is full, it replaces the old one. They keep their tables, so that none
/// grows a second time.
struct TokenMemory: Sendable {
    private let generation: Int
    private var young: [Key: KnownToken] = [:]
    private var old: [Key: KnownToken] = [:]

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

    mutating func recall(_ digest: [UInt8]) -> KnownToken? {
        let key = Key(digest)
        if let token = young[key] { return token }
        guard let token = old.removeValue(forKey: key) else { return nil }
        remember(token, digest)
        return token
    }

    mutating func remember(_ token: KnownToken, _ digest: [UInt8]) {
        if young.count >= generation {
            swap(&old, &young)
            young.removeAll(keepingCapacity: true)
        }
        young[Key(digest)] = token
    }
}
