import Cryptography
import ProcessRuntime

/// How many new visitors are taken: a client can make up as many as it likes, and each is kept for 90 days.
///
/// What is known of a visitor is bounded by itself: a step is taken once, an opening of the app once a day.
struct VisitorLimits: Sendable {
    /// Of one address in an hour; a whole site of IPv6 has ``NetworkAddress/siteShares`` times as many.
    let perAddress: Int64
    /// Of the deployment in a day (UTC).
    let perDay: Int64
    /// Makes of an address what is remembered of it.
    let hash: KeyedHash

    /// Why the events of a new visitor are not stored.
    enum Refusal: String, Sendable, CaseIterable {
        case address, day
    }

    /// What a new visitor from an address counts for, and how many that may have. All of no known address count as one.
    func shares(of address: String?) -> [(key: [UInt8], most: Int64)] {
        guard let address = address.flatMap({ NetworkAddress($0) }) else { return [(hash.code(for: []), perAddress)] }
        return address.sharers.map { (hash.code(for: $0.key), perAddress * Int64($0.shares)) }
    }
}
