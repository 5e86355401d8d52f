import CCrypto

/// Bytes of libcrypto's random generator, which the system seeds.
public enum RandomBytes {
    /// Traps where the system has no randomness: nothing that follows would be safe.
    public static func make(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
            precondition(RAND_bytes(output.baseAddress, Int32(count)) == 1, "the system gives no random bytes")
            initialized = count
        }
    }

    /// So many decimal digits, each equally likely: bytes of 250 and more are thrown away.
    public static func digits(_ count: Int) -> String {
        var digits = ""
        while digits.count < count {
            for byte in make(count) where byte < 250 && digits.count < count { digits += String(byte % 10) }
        }
        return digits
    }
}

/// A secret that a client keeps: its kind, told by a prefix, and 256 random bits.
public enum SecretToken {
    /// - Parameter prefix: `rf`, `ds`; what a person who finds the token can tell it by.
    public static func make(prefix: String) -> String { "\(prefix)_\(Base64URL.encode(RandomBytes.make(32)))" }
}
