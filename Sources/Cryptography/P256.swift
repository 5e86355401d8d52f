import CCrypto

/// The public half of a key on the curve P-256 (FIPS 186-5), for ECDSA with SHA-256: `ES256` of RFC 7518.
package struct P256PublicKey: Sendable, Hashable {
    /// The x-coordinate of the point: 32 bytes, big-endian.
    package let x: [UInt8]
    /// The y-coordinate of the point: 32 bytes, big-endian.
    package let y: [UInt8]

    /// Takes both coordinates; `nil` unless each has 32 bytes and the point is on the curve.
    package init?(x: [UInt8], y: [UInt8]) {
        (self.x, self.y) = (x, y)
        guard x.count == 32, y.count == 32, handle() != nil else { return nil }
    }

    /// - Parameter signature: r and s, 32 bytes each (RFC 7518, section 3.4).
    package func isValid(signature: [UInt8], for message: [UInt8]) -> Bool {
        guard signature.count == 64, let key = handle(), let encoded = Self.encoded(signature) else { return false }
        return key.verifies(encoded, for: message)
    }

    private func handle() -> KeyHandle? {
        KeyHandle(der: DER.sequence(P256.algorithm, DER.bits([4] + x + y)))
    }

    /// The signature in the form that libcrypto reads: the two numbers in ASN.1.
    private static func encoded(_ signature: [UInt8]) -> [UInt8]? {
        let pair = ECDSA_SIG_new()
        defer { ECDSA_SIG_free(pair) }
        // From here on the pair owns both numbers.
        let (r, s) = (BN_bin2bn(signature, 32, nil), BN_bin2bn(Array(signature.dropFirst(32)), 32, nil))
        guard ECDSA_SIG_set0(pair, r, s) == 1 else { return nil }
        let length = i2d_ECDSA_SIG(pair, nil)
        guard length > 0 else { return nil }
        return [UInt8](unsafeUninitializedCapacity: Int(length)) { output, count in
            var end = output.baseAddress
            count = Int(i2d_ECDSA_SIG(pair, &end))
        }
    }
}

/// A signing key on the curve P-256, in the form that providers use: PKCS #8 in PEM, without a password.
package struct P256PrivateKey: Sendable {
    /// The secret key, as in its file.
    package let pem: String
    /// The public half of the key.
    package let publicKey: P256PublicKey

    /// `nil` unless the text is one key on this curve.
    package init?(pem: String) {
        self.pem = pem
        guard let key = Self.handle(pem), let publicKey = Self.publicKey(of: key) else { return nil }
        self.publicKey = publicKey
    }

    /// A new random key.
    package init() {
        guard let raw = P256.generate() else { preconditionFailure("no P-256 in libcrypto") }
        let handle = KeyHandle(owning: raw)
        let memory = BIO_new(BIO_s_mem())
        defer { BIO_free(memory) }
        var (pem, length) = ([UInt8](repeating: 0, count: 1024), 0)
        let isWritten =
            PEM_write_bio_PrivateKey(memory, handle.raw, nil, nil, 0, nil, nil) == 1
            && BIO_read_ex(memory, &pem, pem.count, &length) == 1
        guard isWritten, let key = P256PrivateKey(pem: String(decoding: pem.prefix(length), as: UTF8.self)) else {
            preconditionFailure("libcrypto cannot write a key")
        }
        self = key
    }

    /// r and s, 32 bytes each (RFC 7518, section 3.4).
    package func signature(for message: [UInt8]) -> [UInt8] {
        guard let key = Self.handle(pem) else { preconditionFailure("a key that was read is readable") }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var (encoded, length) = ([UInt8](repeating: 0, count: 80), 80)
        let signed =
            EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key.raw) == 1
            && EVP_DigestSign(context, &encoded, &length, message, message.count) == 1
        precondition(signed, "libcrypto cannot sign")
        return Self.numbers(of: Array(encoded.prefix(length)))
    }

    private static func handle(_ pem: String) -> KeyHandle? {
        let raw = Array(pem.utf8).withUnsafeBytes { bytes in
            let memory = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))
            defer { BIO_free(memory) }
            // Without this callback libcrypto would ask the terminal for a key's password.
            return PEM_read_bio_PrivateKey(memory, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let raw else { return nil }
        let key = KeyHandle(owning: raw)
        var name = [CChar](repeating: 0, count: 32)
        var length = 0
        guard EVP_PKEY_get_group_name(key.raw, &name, name.count, &length) == 1,
            name.prefix(length).map({ UInt8(bitPattern: $0) }).elementsEqual(P256.name.utf8)
        else { return nil }
        return key
    }

    private static func publicKey(of key: borrowing KeyHandle) -> P256PublicKey? {
        var (point, length) = ([UInt8](repeating: 0, count: 65), 0)
        guard EVP_PKEY_get_octet_string_param(key.raw, OSSL_PKEY_PARAM_PUB_KEY, &point, 65, &length) == 1,
            length == 65, point[0] == 4
        else { return nil }
        return P256PublicKey(x: Array(point[1..<33]), y: Array(point[33...]))
    }

    private static func numbers(of encoded: [UInt8]) -> [UInt8] {
        encoded.withUnsafeBufferPointer { encoded in
            var start = encoded.baseAddress
            let pair = d2i_ECDSA_SIG(nil, &start, encoded.count)
            defer { ECDSA_SIG_free(pair) }
            return [UInt8](unsafeUninitializedCapacity: 64) { output, count in
                BN_bn2binpad(ECDSA_SIG_get0_r(pair), output.baseAddress, 32)
                BN_bn2binpad(ECDSA_SIG_get0_s(pair), output.baseAddress.map { $0 + 32 }, 32)
                count = 64
            }
        }
    }
}

private enum P256 {
    /// libcrypto's name for the curve.
    static let name = "prime256v1"
    /// id-ecPublicKey on prime256v1 (RFC 5480, section 2.1.1), as DER.
    static let algorithm: [UInt8] = [
        0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d,
        0x03,
        0x01, 0x07,
    ]

    static func generate() -> OpaquePointer? {
        let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, name) == 1,
            EVP_PKEY_generate(context, &key) == 1
        else { return nil }
        return key
    }
}
