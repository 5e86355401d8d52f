import CCrypto

/// The only owner of one `EVP_PKEY`.
struct KeyHandle: ~Copyable {
    let raw: OpaquePointer

    init(owning raw: OpaquePointer) { self.raw = raw }
    deinit { EVP_PKEY_free(raw) }

    /// Reads a public key in DER (SubjectPublicKeyInfo, RFC 5280); `nil` if the bytes are no key, for example a point
    /// that is not on its curve.
    init?(der: [UInt8]) {
        let key = der.withUnsafeBufferPointer { der in
            var start = der.baseAddress
            return d2i_PUBKEY(nil, &start, der.count)
        }
        guard let key else { return nil }
        raw = key
    }

    /// Whether a signature over the SHA-256 of a message is valid. The signature has libcrypto's form.
    func verifies(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, raw) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}

/// The part of DER (X.690) that a public key needs.
enum DER {
    static func sequence(_ parts: [UInt8]...) -> [UInt8] { element(0x30, Array(parts.joined())) }
    static func bits(_ bytes: [UInt8]) -> [UInt8] { element(0x03, [0] + bytes) }
    /// - Parameter bytes: big-endian, without leading zeros.
    static func integer(_ bytes: [UInt8]) -> [UInt8] {
        element(0x02, bytes.first.map { $0 >= 0x80 } == true ? [0] + bytes : bytes)
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            count < 0x80
            ? [UInt8(count)]
            : count < 0x100 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xff)]
        return [tag] + length + content
    }
}
