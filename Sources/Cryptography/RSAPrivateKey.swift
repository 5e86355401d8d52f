import CCrypto

/// An RSA key that signs (RFC 8017, RSASSA-PKCS1-v1_5 with SHA-256: `RS256` in RFC 7518).
package struct RSAPrivateKey: Sendable {
    private let pem: [UInt8]

    /// The shortest key, in bits. Shorter keys are broken or soon will be.
    package static let shortest: Int32 = 2048

    /// - Parameter pem: PKCS#8, not encrypted (`-----BEGIN PRIVATE KEY-----`).
    /// - Returns: `nil` unless it holds an RSA key of ``shortest`` bits or more.
    package init?(pem: String) {
        self.pem = Array(pem.utf8)
        let fits = withKey { EVP_PKEY_get_base_id($0) == EVP_PKEY_RSA && EVP_PKEY_get_bits($0) >= Self.shortest }
        guard fits == true else { return nil }
    }

    /// Signs a message. The signature is as long as the key. It takes a millisecond, so it must run off the loop.
    package func signature(for message: [UInt8]) -> [UInt8] {
        let signature = withKey { key -> [UInt8]? in
            let context = EVP_MD_CTX_new()
            defer { EVP_MD_CTX_free(context) }
            var length = Int(EVP_PKEY_get_size(key))
            var signature = [UInt8](repeating: 0, count: length)
            guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
                EVP_DigestSign(context, &signature, &length, message, message.count) == 1
            else { return nil }
            return Array(signature.prefix(length))
        }
        guard let signature, let signature else { preconditionFailure("libcrypto cannot sign") }
        return signature
    }

    /// `nil` if the text is not a key.
    private func withKey<Result>(_ body: (OpaquePointer) -> Result) -> Result? {
        guard let source = BIO_new_mem_buf(pem, Int32(pem.count)) else { return nil }
        defer { BIO_free(source) }
        // The callback returns no password. Without it, libcrypto would ask the terminal for one.
        guard let key = PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in 0 }, nil) else {
            // Errors that remain in the thread's queue would confuse the next reader.
            ERR_clear_error()
            return nil
        }
        defer { EVP_PKEY_free(key) }
        return body(key)
    }
}
