import Foundation
import TestSupport
import Testing

@testable import Cryptography

@Suite("RSA keys that sign") struct RSAPrivateKeyTests {
    @Test func opensslVerifiesASignature() throws {
        let pem = try OpenSSL.run(["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-quiet"])
        let key = try #require(RSAPrivateKey(pem: pem))
        let folder = try ScratchFolder()
        defer { withExtendedLifetime(folder) {} }
        let message = Array("header.claims".utf8)
        let signature = key.signature(for: message)
        #expect(signature.count == 256 && key.signature(for: message) == signature)
        try OpenSSL.run(["pkey", "-pubout"], Array(pem.utf8)).write(
            toFile: "\(folder.path)/public", atomically: false, encoding: .utf8)
        try Data(signature).write(to: URL(fileURLWithPath: "\(folder.path)/signature"))
        let verify = ["dgst", "-sha256", "-verify", "\(folder.path)/public", "-signature", "\(folder.path)/signature"]
        #expect(try OpenSSL.run(verify, message).contains("Verified OK"))
        #expect(throws: (any Error).self) { try OpenSSL.run(verify, Array("header.clains".utf8)) }
    }

    @Test(
        "keys that are not RSA or too short are refused",
        arguments: [
            ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024", "-quiet"],
            ["genpkey", "-algorithm", "ED25519"],
            ["genpkey", "-algorithm", "RSA", "-aes-256-cbc", "-pass", "pass:x", "-quiet"], ["version"],
        ])
    func refused(arguments: [String]) throws {
        #expect(RSAPrivateKey(pem: try OpenSSL.run(arguments)) == nil)
        #expect(RSAPrivateKey(pem: "") == nil)
    }
}
