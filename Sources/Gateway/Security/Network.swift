import ProcessRuntime

/// A network such as `10.0.0.0/8` or `fd00::/8`, or a single address.
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
