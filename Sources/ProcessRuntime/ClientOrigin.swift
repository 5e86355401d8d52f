import Cryptography

/// The origin of a request, for limits that a service counts in its tables. It holds keyed hashes, which reveal no
/// address.
package struct ClientOrigin: Sendable {
    /// The hash of an IPv4 address, or of the first 64 bits of an IPv6 address. Any other text is hashed as it is.
    package let address: [UInt8]
    /// The hash of the first 48 bits of an IPv6 address, whose limit is ``NetworkAddress/siteShares`` times as high;
    /// `nil` for any other address.
    package let site: [UInt8]?

    /// - Parameter address: the client's address from the gateway; `nil` if it is not known.
    package init(_ address: String?, hash: KeyedHash) {
        let text = address ?? ""
        let keys = NetworkAddress(text)?.sharers.map(\.key) ?? [Array(text.utf8)]
        self.address = hash.code(for: keys[0])
        site = keys.count > 1 ? hash.code(for: keys[1]) : nil
    }
}
