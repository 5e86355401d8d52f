import Cryptography
import ProcessRuntime

/// The limits for new visitors. A client can invent any number of them, and each is stored for 90 days.
///
/// The events of one visitor need no limit: a step is stored once, and opening the app once a day.
struct VisitorLimits: Sendable {
    /// New visitors of an address within an hour. The site of an IPv6 address may have ``NetworkAddress/siteShares``
    /// times as many.
    let perAddress: Int64
    /// New visitors of the whole deployment within a UTC day.
    let perDay: Int64
    /// Hashes addresses for storage.
    let hash: KeyedHash

    /// Why the events of a new visitor are not stored.
    enum Refusal: String, Sendable, CaseIterable {
        case address, day
    }

    /// The keys under which a new visitor from an address is counted, with their limits. All unknown addresses share
    /// one key.
    func shares(of address: String?) -> [(key: [UInt8], most: Int64)] {
        guard let address = address.flatMap({ NetworkAddress($0) }) else { return [(hash.code(for: []), perAddress)] }
        return address.sharers.map { (hash.code(for: $0.key), perAddress * Int64($0.shares)) }
    }
}
