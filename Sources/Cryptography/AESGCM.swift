import CCrypto

/// Why encrypted bytes cannot be opened. It gives no further reason, which would help a forger.
package enum SealError: Error, Sendable { case cannotOpen, unknownKey }

/// Authenticated encryption with AES-256 in Galois/Counter Mode (NIST SP 800-38D). Each encryption uses a new random
/// nonce of 96 bits.
package enum AESGCM {
    static let nonceLength = 12, tagLength = 16
    /// How much longer ``seal(_:key:associated:)`` makes a text, in bytes.
    package static let overhead = nonceLength + tagLength

    /// Looked up once, as for ``SHA256``. Nothing frees or changes it.
    private nonisolated(unsafe) static let algorithm = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)

    /// Encrypts.
    ///
    /// - Parameters:
    ///   - key: 32 bytes.
    ///   - associated: identifies the place that the bytes belong to, such as a row. The bytes can be opened only with
    ///     the same value.
    /// - Returns: nonce, ciphertext and tag.
    package static func seal(_ plaintext: [UInt8], key: [UInt8], associated: [UInt8] = []) -> [UInt8] {
        seal(plaintext, key: key, nonce: RandomBytes.make(nonceLength), associated: associated)
    }

    static func seal(_ plaintext: [UInt8], key: [UInt8], nonce: [UInt8], associated: [UInt8]) -> [UInt8] {
        precondition(key.count == 32 && nonce.count == nonceLength, "AES-256-GCM takes 32 and 12 bytes")
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        return [UInt8](unsafeUninitializedCapacity: plaintext.count + overhead) { output, written in
            guard let start = output.baseAddress else { return }
            start.update(from: nonce, count: nonceLength)
            let (ciphertext, tag) = (start + nonceLength, start + nonceLength + plaintext.count)
            var length: Int32 = 0
            let sealed =
                EVP_EncryptInit_ex(context, algorithm, nil, key, nonce) == 1
                && EVP_EncryptUpdate(context, nil, &length, associated, Int32(associated.count)) == 1
                && EVP_EncryptUpdate(context, ciphertext, &length, plaintext, Int32(plaintext.count)) == 1
                && EVP_EncryptFinal_ex(context, tag, &length) == 1
                && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), tag) == 1
            precondition(sealed, "libcrypto cannot encrypt")
            written = plaintext.count + overhead
        }
    }

    /// Decrypts.
    ///
    /// - Throws: ``SealError/cannotOpen`` for a wrong key, changed bytes or another `associated`.
    package static func open(_ sealed: [UInt8], key: [UInt8], associated: [UInt8] = []) throws(SealError) -> [UInt8] {
        guard key.count == 32, sealed.count >= overhead else { throw .cannotOpen }
        let count = sealed.count - overhead
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var opened = false
        let plaintext = [UInt8](unsafeUninitializedCapacity: count + 16) { output, written in
            sealed.withUnsafeBufferPointer { sealed in
                guard let nonce = sealed.baseAddress, let plain = output.baseAddress else { return }
                let (ciphertext, tag) = (nonce + nonceLength, nonce + nonceLength + count)
                var length: Int32 = 0
                opened =
                    EVP_DecryptInit_ex(context, algorithm, nil, key, nonce) == 1
                    && EVP_DecryptUpdate(context, nil, &length, associated, Int32(associated.count)) == 1
                    && EVP_DecryptUpdate(context, plain, &length, ciphertext, Int32(count)) == 1
                    && EVP_CIPHER_CTX_ctrl(
                        context, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), UnsafeMutablePointer(mutating: tag)) == 1
                    && EVP_DecryptFinal_ex(context, plain + count, &length) == 1
            }
            written = opened ? count : 0
        }
        guard opened else { throw .cannotOpen }
        return plaintext
    }
}
