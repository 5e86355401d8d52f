import JSONText

extension Catalogue {
    /// A hash over every type, version and schema: FNV-1a with 64 bits, as 16 hexadecimal digits.
    ///
    /// It distinguishes builds. It gives no security.
    public static let digest: String = {
        let messages = all.map { message in
            Array("\(message.type)/\(message.version)".utf8) + CanonicalJSON.bytes(of: message.schema.exported())
        }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for message in messages.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            for byte in message { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }()
}
