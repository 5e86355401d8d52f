import Cryptography
import Foundation
import JSONText

/// Takes the place of Google in a system that the demo starts for itself. It makes a key for one run, signs identity
/// tokens with it, and publishes it on this machine. Only a system with ``variables`` trusts it.
final class DemoIssuer: Sendable {
    private static let name = "https://issuer.demo.invalid"
    private static let audience = "vestibule-demo"
    private static let kid = "demo"

    private let key = P256PrivateKey()
    private let listener: Int32
    private let port: UInt16

    /// - Throws: ``CommandError`` if it cannot listen on any port of this machine.
    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = HTTPClient.addresses("127.0.0.1", 0)[0]
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listens = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 8) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard listens else {
            close(listener)
            throw CommandError.unavailable("the demo's issuer cannot listen on this machine")
        }
        (self.listener, port) = (listener, UInt16(bigEndian: address.sin_port))
        let answer = Self.answer(with: key.publicKey)
        Thread { Self.serve(answer, at: listener) }.start()
    }

    deinit {
        // Ends the thread's wait for the next connection.
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// The variables of an auth service that trusts this issuer in place of Google.
    var variables: [String: String] {
        [
            "AUTH_GOOGLE_ISSUER": Self.name, "AUTH_GOOGLE_JWKS_URL": "http://127.0.0.1:\(port)/keys",
            "AUTH_GOOGLE_AUDIENCES": Self.audience,
        ]
    }

    /// An identity token of a new person.
    func token(nonce: String) -> String {
        let now = Int64(Date().timeIntervalSince1970)
        let header: JSONValue = ["alg": "ES256", "kid": .string(Self.kid), "typ": "JWT"]
        let claims: JSONValue = [
            "iss": .string(Self.name), "aud": .string(Self.audience), "sub": .string(UUID().uuidString),
            "iat": .integer(now), "exp": .integer(now + 600),
            "nonce": .string(Hex.encode(SHA256.digest(Array(nonce.utf8)))),
        ]
        let parts = [header, claims].map { Base64URL.encode(CanonicalJSON.bytes(of: $0)) }
        let signed = parts.joined(separator: ".")
        return "\(signed).\(Base64URL.encode(key.signature(for: Array(signed.utf8))))"
    }

    /// The key as an HTTP response.
    private static func answer(with key: P256PublicKey) -> [UInt8] {
        let keys: JSONValue = [
            "keys": [
                [
                    "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": .string(kid),
                    "x": .string(Base64URL.encode(key.x)), "y": .string(Base64URL.encode(key.y)),
                ]
            ]
        ]
        let body = CanonicalJSON.bytes(of: keys)
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.count)\r\n"
            + "Connection: close\r\n\r\n"
        return Array(head.utf8) + body
    }

    /// Gives every connection the same answer, for any request.
    private static func serve(_ answer: [UInt8], at listener: Int32) {
        while true {
            let connection = accept(listener, nil, nil)
            if connection < 0, errno == EINTR { continue }
            guard connection >= 0 else { return }
            var patience = timeval(tv_sec: 2, tv_usec: 0)
            setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            var request = [UInt8](repeating: 0, count: 65_536)
            if recv(connection, &request, request.count, 0) > 0 {
                _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
            }
            close(connection)
        }
    }
}
