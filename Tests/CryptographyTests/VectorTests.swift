import Foundation
import Testing

@testable import Cryptography

private func hex(_ text: String) throws -> [UInt8] { try #require(Hex.decode(text.replacing(" ", with: ""))) }

@Suite("published vectors") struct VectorTests {
    @Test func sha256() throws {  // FIPS 180-4 example
        #expect(
            Hex.encode(SHA256.digest(Array("abc".utf8)))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(Hex.encode(SHA256.digest([])) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    @Test func hmac() throws {  // RFC 4231, cases 2 and 6
        #expect(
            Hex.encode(HMACSHA256.code(for: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8)))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        let message = Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)
        #expect(
            Hex.encode(HMACSHA256.code(for: message, key: [UInt8](repeating: 0xaa, count: 131)))
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    @Test func hkdf() throws {  // RFC 5869, cases 1 and 3
        let key = [UInt8](repeating: 0x0b, count: 22)
        let first = HKDF.derive(
            key: key, salt: try hex("000102030405060708090a0b0c"), info: try hex("f0f1f2f3f4f5f6f7f8f9"), length: 42)
        #expect(
            Hex.encode(first) == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
        #expect(
            Hex.encode(HKDF.derive(key: key, info: [], length: 42))
                == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")
    }

    @Test func aesGCM() throws {  // McGrew and Viega, "The Galois/Counter Mode of Operation", test case 16
        let sealed = AESGCM.seal(
            try hex(
                "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
            ),
            key: try hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"),
            nonce: try hex("cafebabefacedbaddecaf888"), associated: try hex("feedfacedeadbeeffeedfacedeadbeefabaddad2"))
        #expect(
            Hex.encode(sealed.dropFirst(12))
                == "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
                + "76fc6ece0f4e1768cddf8853bb2d551b")
    }

    @Test func ed25519() throws {  // RFC 8032, section 7.1, test 3
        let key = try #require(
            Ed25519PrivateKey(seed: try hex("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7")))
        #expect(Hex.encode(key.publicKey.raw) == "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025")
        let message = try hex("af82")
        let signature = key.signature(for: message)
        #expect(
            Hex.encode(signature)
                == "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        )
        #expect(key.publicKey.isValid(signature: signature, for: message))
        for index in [0, 31, 32, 63] {
            var changed = signature
            changed[index] ^= 1
            #expect(!key.publicKey.isValid(signature: changed, for: message))
        }
        #expect(!key.publicKey.isValid(signature: signature, for: message + [0]))
        #expect(!key.publicKey.isValid(signature: Array(signature.dropLast()), for: message))
    }
}

@Suite("keys and seals") struct KeyTests {
    @Test func alteredSealedBytesDoNotOpen() throws {
        let sealer = Sealer(try KeyRing(contents: KeyRing.generate(id: "k1")), purpose: "test")
        let sealed = sealer.seal([1, 2, 3], associated: [9])
        #expect(try sealer.open(sealed, associated: [9]) == [1, 2, 3])
        #expect(throws: SealError.self) { try sealer.open(sealed, associated: [8]) }
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 0x40
            #expect(throws: SealError.self) { try sealer.open(changed, associated: [9]) }
        }
        for length in 0..<sealed.count {
            #expect(throws: SealError.self) { try sealer.open(Array(sealed.prefix(length)), associated: [9]) }
        }
    }

    @Test func anOldKeyStillOpensAndPurposesAreApart() throws {
        let old = KeyRing.generate(id: "old"), new = KeyRing.generate(id: "new")
        let sealed = Sealer(try KeyRing(contents: old), purpose: "a").seal([7], associated: [])
        #expect(try Sealer(try KeyRing(contents: new + old), purpose: "a").open(sealed, associated: []) == [7])
        #expect(throws: SealError.self) {
            try Sealer(try KeyRing(contents: new), purpose: "a").open(sealed, associated: [])
        }
        #expect(throws: SealError.self) {
            try Sealer(try KeyRing(contents: old), purpose: "b").open(sealed, associated: [])
        }
    }

    @Test(
        "a malformed ring is refused",
        arguments: [
            "", "k1", "k1 !!!", "k1 AAAA", "k1 AAAA extra", KeyRing.generate(id: "a") + KeyRing.generate(id: "a"),
            ring("a lookup"), ring("a hashes", "b hashes"), ring("a hashes lookup", "b lookup", "c lookup"),
            ring("a lookup lookup"), ring("a hashes other"),
        ])
    func malformedRing(text: String) { #expect(throws: KeyRing.ParseError.self) { try KeyRing(contents: text) } }

    /// A line for each, with words behind its key.
    private static func ring(_ lines: String...) -> String {
        lines.map { line in
            let words = line.split(separator: " ").map(String.init)
            let key = KeyRing.generate(id: words[0]).dropLast()
            return ([String(key)] + words.dropFirst()).joined(separator: " ") + "\n"
        }.joined()
    }

    @Test(
        "the words of a line give the purposes of its key",
        arguments: [
            (ring("a"), "a", "a", ["a"]), (ring("a", "b"), "a", "b", ["b"]),
            (ring("a hashes", "b"), "a", "a", ["a"]),
            (ring("a lookup hashes", "b lookup"), "a", "a", ["a", "b"]),
            (ring("a hashes lookup", "b lookup"), "a", "a", ["a", "b"]),
            // What is for look-up alone neither seals nor hashes, wherever it stands.
            (ring("a lookup", "b", "c lookup"), "b", "b", ["a", "c"]),
        ])
    func words(text: String, current: String, hashing: String, lookups: [String]) throws {
        let ring = try KeyRing(contents: text)
        #expect((ring.current.id, ring.hashing.id) == (current, hashing))
        #expect(ring.lookups.map(\.id) == lookups)
    }

    @Test func base64URLHasOneTextForAValue() {
        #expect(Base64URL.encode([0xfb, 0xff]) == "-_8")
        #expect(Base64URL.decode("-_8") == [0xfb, 0xff])
        for text in ["-_9", "-_8=", "+/8", "A", "-_ 8", "AA\n"] { #expect(Base64URL.decode(text) == nil) }
    }

    /// Compares with Foundation: bytes of each length up to 128, every text of up to three digits, and texts of four
    /// digits with some endings.
    @Test func base64URLIsThatOfFoundation() {
        func foundation(_ bytes: [UInt8]) -> String {
            Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
                "=", with: "")
        }
        for length in 0...128 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255) }
            #expect(Base64URL.encode(bytes) == foundation(bytes))
            #expect(Base64URL.decode(foundation(bytes)) == bytes)
        }
        func check(_ text: String) {
            let plain = text.replacing("-", with: "+").replacing("_", with: "/")
            let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
            let decoded = Data(base64Encoded: plain + padding).map { [UInt8]($0) }
            // Foundation takes unused bits that are not zero.
            let expected = decoded.flatMap { foundation($0) == text ? $0 : nil }
            if Base64URL.decode(text) != expected { Issue.record("\(text)") }
        }
        let digits = "ABPQZafghz0189-_".map { String($0) } + ["=", "+", "/", " ", "\n", "~", "@", "[", "`", "{", "å"]
        for one in digits {
            check(one)
            for two in digits {
                check(one + two)
                for three in digits {
                    check(one + two + three)
                    for four in ["A", "_", "=", "\r"] { check(one + two + three + four) }
                }
            }
        }
    }

    @Test func hexadecimalDigitsAreThoseOfTheByte() {
        for byte in UInt8.min...UInt8.max { #expect(Hex.encode([byte]) == String(format: "%02x", byte)) }
    }

    /// Chi-squared over 60,000 digits: 27.9 is the 0.1 % point with nine degrees of freedom.
    @Test func digitsAreEquallyLikely() {
        var counts = [Int](repeating: 0, count: 10)
        for _ in 0..<10_000 { for digit in RandomBytes.digits(6) { counts[digit.wholeNumberValue ?? 0] += 1 } }
        let chiSquared = counts.reduce(0.0) { $0 + Double(($1 - 6000) * ($1 - 6000)) / 6000 }
        #expect(chiSquared < 45, "\(counts)")
    }
}
