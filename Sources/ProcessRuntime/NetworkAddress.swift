import Foundation

/// A numeric IP address. An IPv4 address is stored in IPv6 form, so that each address has one value.
package struct NetworkAddress: Hashable, Sendable {
    /// 16 bytes in network order.
    package let bytes: [UInt8]

    /// Reads an address.
    ///
    /// - Returns: `nil` for anything but an address in its usual spelling, including names and addresses with ports.
    package init?(_ text: String) {
        var (four, six) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, text, &four) == 1 {
            bytes = [UInt8](repeating: 0, count: 10) + [0xff, 0xff] + withUnsafeBytes(of: four) { Array($0) }
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            bytes = withUnsafeBytes(of: six) { Array($0) }
        } else {
            return nil
        }
    }

    /// Whether it is an IPv4 address.
    package var isIPv4: Bool { bytes[..<12].elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]) }

    /// Whether it is an address of the machine itself.
    package var isLoopback: Bool {
        isIPv4 ? bytes[12] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
    }

    /// The networks that a limit per address counts.
    ///
    /// An IPv4 address counts by itself. For an IPv6 address, the first 64 bits count, since one customer has them. The
    /// first 48 bits, which one site has, count too. The limit of a site is ``siteShares`` times as high.
    package var sharers: [Sharer] {
        guard !isIPv4 else { return [Sharer(key: bytes, shares: 1)] }
        return [Sharer(key: Array(bytes[..<8]), shares: 1), Sharer(key: Array(bytes[..<6]), shares: Self.siteShares)]
    }

    /// All customers of a site together have this many times the limit of one customer.
    package static let siteShares = 8

    /// An address or its network, as a limit counts it.
    package struct Sharer: Hashable, Sendable {
        /// 16 bytes for an IPv4 address; 8 or 6 bytes for an IPv6 network.
        package let key: [UInt8]
        /// The limit of this sharer, as a multiple of the limit of one address.
        package let shares: Int
    }
}
