/// The key that signs one address until a time. The service that owns the address derives it from a key of its own. So
/// its holder can sign no other address.
package struct AddressKey: Sendable, Equatable {
    /// 32 secret bytes.
    package let bytes: [UInt8]

    /// Derives the key of an address from a service's own key.
    package init(of path: String, from hash: KeyedHash) { bytes = hash.code(for: "address\n\(path)") }

    /// Takes a key that the owner of the address gave.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    private func code(_ expires: Int64) -> [UInt8] { HMACSHA256.code(for: Array("GET\n\(expires)".utf8), key: bytes) }

    /// The query that opens the address.
    ///
    /// - Parameter expires: seconds since 1970.
    package func query(until expires: Int64) -> String {
        "expires=\(expires)&signature=\(Base64URL.encode(code(expires)))"
    }

    /// Whether this key made a signature.
    package func accepts(_ signature: [UInt8], until expires: Int64) -> Bool {
        constantTimeEqual(code(expires), signature)
    }

    /// The end of an address that stays the same for a day (UTC), and can be used for one to two days.
    ///
    /// - Parameter now: seconds since 1970. The result has the same unit.
    package static func end(forAllDay now: Int64) -> Int64 { (now / 86_400 + 2) * 86_400 }
}
