import CCrypto

/// The public half of an Ed25519 key (RFC 8032).
package struct Ed25519PublicKey: Sendable, Hashable {
    /// 32 bytes.
    package let raw: [UInt8]

    /// `nil` unless there are 32 bytes.
    package init?(raw: [UInt8]) {
        guard raw.count == 32 else { return nil }
        self.raw = raw
    }

    /// Verifies a signature. It is false for a wrong signature and for a wrong length.
    package func isValid(signature: [UInt8], for message: [UInt8]) -> Bool {
        guard signature.count == 64, let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, raw, 32) else {
            return false
        }
        defer { EVP_PKEY_free(key) }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1
            && EVP_DigestVerify(context, signature, 64, message, message.count) == 1
    }
}

/// An Ed25519 signing key (RFC 8032).
package struct Ed25519PrivateKey: Sendable {
    /// 32 secret bytes.
    package let seed: [UInt8]
    /// The public half of the key.
    package let publicKey: Ed25519PublicKey
    private let handle: Handle

    /// A new random key.
    package init() {
        guard let key = Ed25519PrivateKey(seed: RandomBytes.make(32)) else {
            preconditionFailure("no Ed25519 in libcrypto")
        }
        self = key
    }

    /// `nil` unless there are 32 bytes.
    package init?(seed: [UInt8]) {
        guard seed.count == 32, let handle = Handle(seed: seed) else { return nil }
        var (raw, length) = ([UInt8](repeating: 0, count: 32), 32)
        guard EVP_PKEY_get_raw_public_key(handle.key, &raw, &length) == 1, let publicKey = Ed25519PublicKey(raw: raw)
        else { return nil }
        (self.seed, self.publicKey, self.handle) = (seed, publicKey, handle)
    }

    /// 64 bytes.
    package func signature(for message: [UInt8]) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var (signature, length) = ([UInt8](repeating: 0, count: 64), 64)
        let signed =
            EVP_DigestSignInit(context, nil, nil, nil, handle.key) == 1
            && EVP_DigestSign(context, &signature, &length, message, message.count) == 1
        precondition(signed, "libcrypto cannot sign")
        return signature
    }

    /// The key in libcrypto's form, because making it takes as long as a signature. Nothing changes it, and several
    /// threads may sign with it.
    private final class Handle: Sendable {
        nonisolated(unsafe) let key: OpaquePointer

        init?(seed: [UInt8]) {
            guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, 32) else { return nil }
            self.key = key
        }

        deinit { EVP_PKEY_free(key) }
    }
}
