import CCrypto

/// Bytes from libcrypto's random generator, which the system seeds.
package enum RandomBytes {
    /// Traps if the system has no randomness, because nothing after that would be safe.
    package static func make(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
            precondition(RAND_bytes(output.baseAddress, Int32(count)) == 1, "the system gives no random bytes")
            initialized = count
        }
    }

    /// This many decimal digits, each equally likely. It discards bytes of 250 and more.
    package static func digits(_ count: Int) -> String {
        var digits = ""
        while digits.count < count {
            for byte in make(count) where byte < 250 && digits.count < count { digits += String(byte % 10) }
        }
        return digits
    }
}

/// A secret for a client: a prefix that names its kind, and 256 random bits.
package enum SecretToken {
    /// - Parameter prefix: `rf` or `ds`, for example. It tells a person who finds the token its kind.
    package static func make(prefix: String) -> String { "\(prefix)_\(Base64URL.encode(RandomBytes.make(32)))" }
}
