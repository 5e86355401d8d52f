import Foundation

/// A numeric address of either family; IPv4 stands in IPv6 form, so that one address has one value.
public struct NetworkAddress: Hashable, Sendable {
    /// 16 bytes in network order.
    public let bytes: [UInt8]

    /// - Returns: `nil` for what is not an address in its usual spelling, names and ports included.
    public init?(_ text: String) {
        var (four, six) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, text, &four) == 1 {
            bytes = [UInt8](repeating: 0, count: 10) + [0xff, 0xff] + withUnsafeBytes(of: four) { Array($0) }
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            bytes = withUnsafeBytes(of: six) { Array($0) }
        } else {
            return nil
        }
    }

    public var isIPv4: Bool { bytes[..<12].elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]) }

    public var isLoopback: Bool {
        isIPv4 ? bytes[12] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
    }

    /// Whom a limit per address counts: an IPv4 address by itself. Of an IPv6 address the first 64 bits, which one customer
    /// has, and beside them the first 48, which one site has: what is for a site is ``siteShares`` times as much.
    public var sharers: [Sharer] {
        guard !isIPv4 else { return [Sharer(key: bytes, shares: 1)] }
        return [Sharer(key: Array(bytes[..<8]), shares: 1), Sharer(key: Array(bytes[..<6]), shares: Self.siteShares)]
    }

    /// Shares of a limit that all customers of one site have together.
    public static let siteShares = 8

    /// An address, or the network that it is in, as a limit counts it.
    public struct Sharer: Hashable, Sendable {
        /// 16 bytes of an IPv4 address; 8 or 6 of an IPv6 address.
        public let key: [UInt8]
        /// How many times the limit it has.
        public let shares: Int
    }
}
