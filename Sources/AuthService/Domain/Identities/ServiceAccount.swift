import BusProtocol
import Cryptography
import JSONText

/// A program's account at Google, by the key that Google hands out for it.
struct ServiceAccount: Sendable {
    let project: String
    let email: String
    let keyID: String
    let key: RSAPrivateKey
    /// Where an assertion is exchanged for an access token, as the key's file has it.
    let tokenURI: String

    /// Seconds; what Google allows.
    private static let lifetime: Int64 = 3600
    private static let scope = "https://www.googleapis.com/auth/firebase.messaging"

    /// - Parameter json: of the members that the file has, those that are needed are looked at.
    init?(json: String) {
        guard let members = try? JSONValue.parse(Array(json.utf8)), let project = members["project_id"]?.stringValue,
            let email = members["client_email"]?.stringValue, let keyID = members["private_key_id"]?.stringValue,
            let key = members["private_key"]?.stringValue.flatMap({ RSAPrivateKey(pem: $0) }),
            let tokenURI = members["token_uri"]?.stringValue, Self.isProject(project)
        else { return nil }
        (self.project, self.email, self.keyID, self.key, self.tokenURI) = (project, email, keyID, key, tokenURI)
    }

    /// It becomes a part of a path.
    private static func isProject(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (48...57) ~= $0 || (97...122) ~= $0 || $0 == UInt8(ascii: "-") }
    }

    /// A signed JSON Web Token that says who asks for an access token (RFC 7523). It takes a millisecond, and so does not
    /// belong on the loop.
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
