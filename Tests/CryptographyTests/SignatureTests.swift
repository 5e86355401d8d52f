import Testing

@testable import Cryptography

@Suite("signatures of identity providers") struct SignatureTests {
    // RFC 7515, appendix A.2: RS256.
    private static let rs256 = """
        eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ\
        .cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1d\
        nZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC\
        -eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw
        """
    private static let modulus = """
        ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgN\
        MsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmt\
        dVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ
        """
    // RFC 7515, appendix A.3: ES256.
    private static let es256 = """
        eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ\
        .DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q
        """
    private static let (x, y) = (
        "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
    )

    private static func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }

    private static func split(_ token: String) throws -> (message: [UInt8], signature: [UInt8]) {
        let dot = try #require(token.lastIndex(of: "."))
        return (Array(token[..<dot].utf8), try bytes(String(token[token.index(after: dot)...])))
    }

    @Test func rsaVerifiesThePublishedToken() throws {
        let key = try #require(RSAPublicKey(modulus: try Self.bytes(Self.modulus), exponent: [1, 0, 1]))
        let (message, signature) = try Self.split(Self.rs256)
        #expect(key.isValid(signature: signature, for: message))
        #expect(!key.isValid(signature: signature, for: message + [0]))
        for index in [0, 127, 255] {
            var forged = signature
            forged[index] ^= 1
            #expect(!key.isValid(signature: forged, for: message))
        }
        for forged in [[], Array(signature.dropLast()), [0] + signature, signature + [0]] {
            #expect(!key.isValid(signature: forged, for: message))
        }
    }

    @Test func unsafeRSAKeysAreRefused() throws {
        let modulus = try Self.bytes(Self.modulus)
        for exponent: [UInt8] in [[], [0], [1], [2], [0, 1, 0, 1], [1, 0, 0], [1, 0, 0, 0, 1]] {
            #expect(RSAPublicKey(modulus: modulus, exponent: exponent) == nil, "\(exponent)")
        }
        let small = [UInt8](repeating: 0x7f, count: 256)
        let large = [UInt8](repeating: 0xff, count: 1025)
        for modulus in [[], [0] + modulus, Array(modulus.dropLast()) + [2], Array(modulus.prefix(128)), small, large] {
            #expect(RSAPublicKey(modulus: modulus, exponent: [1, 0, 1]) == nil)
        }
    }

    @Test func p256VerifiesThePublishedToken() throws {
        let key = try #require(P256PublicKey(x: try Self.bytes(Self.x), y: try Self.bytes(Self.y)))
        let (message, signature) = try Self.split(Self.es256)
        #expect(key.isValid(signature: signature, for: message))
        #expect(!key.isValid(signature: signature, for: message + [0]))
        for index in [0, 31, 32, 63] {
            var forged = signature
            forged[index] ^= 1
            #expect(!key.isValid(signature: forged, for: message))
        }
        let zero = [UInt8](repeating: 0, count: 64)
        for forged in [[], zero, Array(signature.dropLast()), signature + [0]] {
            #expect(!key.isValid(signature: forged, for: message))
        }
    }

    @Test func aPointOffTheCurveIsRefused() throws {
        let (x, y) = (try Self.bytes(Self.x), try Self.bytes(Self.y))
        let zero = [UInt8](repeating: 0, count: 32)
        for (x, y) in [(y, x), (x, Array(y.dropLast()) + [0]), (zero, zero), (x, []), ([0] + x, y)] {
            #expect(P256PublicKey(x: x, y: y) == nil)
        }
    }

    @Test func aP256SignatureVerifiesWithItsPublicKey() throws {
        let message = Array("message".utf8)
        for key in [try #require(P256PrivateKey(pem: Self.pem)), P256PrivateKey()] {
            // ASN.1 puts a byte before half of all numbers, and some numbers have fewer bytes. So the test signs often.
            for _ in 0..<64 {
                let signature = key.signature(for: message)
                #expect(signature.count == 64)
                #expect(key.publicKey.isValid(signature: signature, for: message))
            }
            #expect(!key.publicKey.isValid(signature: key.signature(for: message), for: message + [0]))
        }
        // What openssl says of the same file.
        let key = try #require(P256PrivateKey(pem: Self.pem))
        #expect(Base64URL.encode(key.publicKey.x) == "b5u1YMHlUuaVD2S_B0clj5y-u7bYnNemYhp_Luv7YEA")
        #expect(Base64URL.encode(key.publicKey.y) == "tKxsOzz4YEbXEpzwnMaTOVyPKwJ0NFR5lWBH3480NO8")
    }

    @Test func aFileWithoutAPlainP256KeyIsRefused() {
        for pem in ["", "-----BEGIN PRIVATE KEY-----", Self.withPassword, Self.p384, Self.ed25519] {
            #expect(P256PrivateKey(pem: pem) == nil)
        }
    }

    // Made by openssl for this test.
    private static let pem = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXMPHkqNh9Tdt5lCE
        kwT62aIPaqIJ61mMWA5IloeWzQChRANCAARvm7VgweVS5pUPZL8HRyWPnL67ttic
        16ZiGn8u6/tgQLSsbDs8+GBG1xKc8JzGkzlcjysCdDRUeZVgR9+PNDTv
        -----END PRIVATE KEY-----
        """
    private static let withPassword = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjnFdiH/ceKfwICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEGKW1rIPvDZjlgl6LrwkLj4EgZDM
        x0OcB2qclJsE6wRyz0uyRNMrO5J2SGw36LnJeM0X8j5n2JNLjcm3QtHww9lv8bzt
        2nrXRrzHcwim1QIgnh8/FwnEew9mlNM9ygkaV0Ibx5hQjr1uOYrB6ZEHdAWOShn4
        nfhqfeJajnH6qPspufnPLedW+SlOrP/SpemEHvaZw9/ggM6mpbHlN+pdi3nalms=
        -----END ENCRYPTED PRIVATE KEY-----
        """
    private static let p384 = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBoN8BivcyfZeYe7vD0
        GBAwCoVFhp/DUADK6xpcrhK1LzmWLG6rlU0rKFgvGyyXv/KhZANiAAQR2gt/yt2R
        nrB0/f+Uo7mobwrtJemjW/7QnfApGrkRHeAvcTGypt3nKn8m+n4ripbSyPnKtjSd
        9D6iyRrs85tfLzGzVXnLz8GQD0CH48kTTqWAt4Jf4Ta06+vHyRnIxkw=
        -----END PRIVATE KEY-----
        """
    private static let ed25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIIu3CwVPCyBMXqEc/ZLQ3BBl8HW4bMg/SQpFmpwisww+
        -----END PRIVATE KEY-----
        """
}
