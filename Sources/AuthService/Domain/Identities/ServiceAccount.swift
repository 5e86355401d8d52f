import BusProtocol
import Cryptography
import JSONText

/// A service account at Google, from its key file.
struct ServiceAccount: Sendable {
    let project: String
    let email: String
    let keyID: String
    let key: RSAPrivateKey
    /// The URL that exchanges an assertion for an access token, from the key file.
    let tokenURI: String

    /// In seconds: the longest that Google allows.
    private static let lifetime: Int64 = 3600
    private static let scope = "https://www.googleapis.com/auth/firebase.messaging"

    /// - Parameter json: the key file. Members that are not needed are ignored.
    init?(json: String) {
        guard let members = try? JSONValue.parse(Array(json.utf8)), let project = members["project_id"]?.stringValue,
            let email = members["client_email"]?.stringValue, let keyID = members["private_key_id"]?.stringValue,
            let key = members["private_key"]?.stringValue.flatMap({ RSAPrivateKey(pem: $0) }),
            let tokenURI = members["token_uri"]?.stringValue, Self.isProject(project)
        else { return nil }
        (self.project, self.email, self.keyID, self.key, self.tokenURI) = (project, email, keyID, key, tokenURI)
    }

    /// Checks the project's characters, since it becomes part of a path.
    private static func isProject(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (48...57) ~= $0 || (97...122) ~= $0 || $0 == UInt8(ascii: "-") }
    }

    /// A signed JSON Web Token that asks for an access token (RFC 7523). Signing takes a millisecond, so call it off
    /// the loop.
    func assertion(at now: Timestamp) -> String {
        let seconds = now.microsecondsSinceEpoch / 1_000_000
        let header: JSONValue = ["alg": "RS256", "kid": .string(keyID), "typ": "JWT"]
        let claims: JSONValue = [
            "iss": .string(email), "scope": .string(Self.scope), "aud": .string(tokenURI), "iat": .integer(seconds),
            "exp": .integer(seconds + Self.lifetime),
        ]
        let signed = [header, claims].map { Base64URL.encode(CanonicalJSON.bytes(of: $0)) }.joined(separator: ".")
        return "\(signed).\(Base64URL.encode(key.signature(for: Array(signed.utf8))))"
    }
}
