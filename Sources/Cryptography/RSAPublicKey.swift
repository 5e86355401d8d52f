/// The public half of an RSA key (RFC 8017).
package struct RSAPublicKey: Sendable, Hashable {
    /// Big-endian, without leading zeros.
    package let modulus: [UInt8]
    /// The public exponent, big-endian.
    package let exponent: [UInt8]

    /// `nil` for keys that no identity provider should use. Such a key has a modulus of fewer than 2048 or more than
    /// 8192 bits. Or its exponent is even, 1, or longer than four bytes. A larger key from a stranger would cost too
    /// much time.
    package init?(modulus: [UInt8], exponent: [UInt8]) {
        let exponentValue = exponent.count <= 4 ? exponent.reduce(0) { $0 << 8 | UInt64($1) } : 0
        guard let first = modulus.first, first != 0, let last = modulus.last, last % 2 == 1,
            (2048...8192).contains(modulus.count * 8 - first.leadingZeroBitCount), exponent.first != 0,
            exponentValue > 2, exponentValue % 2 == 1
        else { return nil }
        (self.modulus, self.exponent) = (modulus, exponent)
    }

    /// Verifies a signature by RSASSA-PKCS1-v1_5 with SHA-256, `RS256` of RFC 7518. It is false if the signature is not
    /// as long as the modulus.
    package func isValid(signature: [UInt8], for message: [UInt8]) -> Bool {
        guard signature.count == modulus.count else { return false }
        let numbers = DER.sequence(DER.integer(modulus), DER.integer(exponent))
        guard let key = KeyHandle(der: DER.sequence(Self.algorithm, DER.bits(numbers))) else { return false }
        return key.verifies(signature, for: message)
    }

    /// rsaEncryption and NULL (RFC 3279, section 2.3.1), as DER.
    private static let algorithm: [UInt8] = [
        0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
}
