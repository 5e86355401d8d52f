import Cryptography

/// Where a request comes from, as the limits count it that stand in tables: keyed hashes, which tell no address.
public struct ClientOrigin: Sendable {
    /// Of an IPv4 address, or of the first 64 bits of an IPv6 address. What is no address counts by itself.
    public let address: [UInt8]
    /// Of the first 48 bits of an IPv6 address, for which a limit is ``NetworkAddress/siteShares`` times as high; `nil` where
    /// the address is of another kind.
    public let site: [UInt8]?

    /// - Parameter address: as the gateway tells it; `nil` where it tells none.
    public init(_ address: String?, hash: KeyedHash) {
        let text = address ?? ""
        let keys = NetworkAddress(text)?.sharers.map(\.key) ?? [Array(text.utf8)]
        self.address = hash.code(for: keys[0])
        site = keys.count > 1 ? hash.code(for: keys[1]) : nil
    }
}
