import Foundation

/// A numeric address of either family; IPv4 stands in IPv6 form, so that one address has one value.
struct NetworkAddress: Hashable, Sendable {
    /// 16 bytes in network order.
    let bytes: [UInt8]

    init?(_ text: String) {
        var (four, six) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, text, &four) == 1 {
            bytes = [UInt8](repeating: 0, count: 10) + [0xff, 0xff] + withUnsafeBytes(of: four) { Array($0) }
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            bytes = withUnsafeBytes(of: six) { Array($0) }
        } else {
            return nil
        }
    }

    var isIPv4: Bool { bytes[..<12].elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]) }

    var isLoopback: Bool { isIPv4 ? bytes[12] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1 }

    /// What one customer of a network usually has: an IPv4 address, or the first 64 bits of an IPv6 address.
    var household: [UInt8] { isIPv4 ? bytes : Array(bytes[..<8]) }
}

/// `10.0.0.0/8`, `fd00::/8`, or a single address.
struct Network: Hashable, Sendable {
    private let base: NetworkAddress
    private let bits: Int

    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let base = NetworkAddress(parts[0]) else { return nil }
        let width = base.isIPv4 ? 32 : 128
        guard let length = parts.count == 2 ? Int(parts[1]) : width, (0...width).contains(length) else { return nil }
        (self.base, bits) = (base, length + 128 - width)
    }

    func contains(_ address: NetworkAddress) -> Bool {
        let (whole, rest) = (bits / 8, bits % 8)
        guard base.bytes[..<whole] == address.bytes[..<whole] else { return false }
        return rest == 0 || (base.bytes[whole] ^ address.bytes[whole]) >> (8 - rest) == 0
    }
}
