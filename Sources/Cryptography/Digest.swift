import CCrypto

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// 32 bytes.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { output, count in
            let done = EVP_Digest(bytes, bytes.count, output.baseAddress, nil, algorithm, nil)
            precondition(done == 1, "libcrypto has no SHA-256")
            count = 32
        }
    }

    /// Looked up once, because libcrypto would take two locks to find it at each use. Nothing frees or changes it.
    private nonisolated(unsafe) static let algorithm = EVP_MD_fetch(nil, "SHA256", nil)
}

/// HMAC with SHA-256 (RFC 2104).
package enum HMACSHA256 {
    /// 32 bytes.
    package static func code(for message: [UInt8], key: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { output, count in
            var length: UInt32 = 0
            HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, output.baseAddress, &length)
            count = Int(length)
        }
    }
}

/// Whether two byte strings are equal. The time it takes reveals only their lengths.
package func constantTimeEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
}

/// HKDF with SHA-256 (RFC 5869): derives a key for each purpose from one key.
package enum HKDF {
    /// - Parameter length: bytes, from 1 to 8160.
    package static func derive(key: [UInt8], salt: [UInt8] = [], info: [UInt8], length: Int) -> [UInt8] {
        precondition((1...8160).contains(length), "HKDF gives 1 to 8160 bytes")
        let extracted = HMACSHA256.code(for: key, key: salt.isEmpty ? [UInt8](repeating: 0, count: 32) : salt)
        var (output, block, counter) = ([UInt8](), [UInt8](), UInt8(1))
        while output.count < length {
            block = HMACSHA256.code(for: block + info + [counter], key: extracted)
            output += block
            counter &+= 1
        }
        return Array(output.prefix(length))
    }
}
