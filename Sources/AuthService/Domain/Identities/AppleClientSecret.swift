import Cryptography
import JSONText

/// The client secret by which Apple knows the app: a JSON Web Token, signed with the team's key (ES256).
///
/// Source: Apple, "Creating a client secret".
struct AppleClientSecret: Sendable {
    /// In seconds. Apple allows up to half a year.
    private static let lifetime: Int64 = 300

    let teamID: String
    let keyID: String
    let key: P256PrivateKey
    /// The `iss` of Apple's own tokens.
    let audience: String

    /// - Parameters:
    ///   - clientID: the app's client id at Apple.
    ///   - now: seconds since 1970.
    func token(for clientID: String, now: Int64) -> String {
        let header: JSONValue = ["alg": "ES256", "kid": .string(keyID), "typ": "JWT"]
        let claims: JSONValue = [
            "iss": .string(teamID), "sub": .string(clientID), "aud": .string(audience), "iat": .integer(now),
            "exp": .integer(now + Self.lifetime),
        ]
        let signed = [header, claims].map { Base64URL.encode(CanonicalJSON.bytes(of: $0)) }.joined(separator: ".")
        return "\(signed).\(Base64URL.encode(key.signature(for: Array(signed.utf8))))"
    }
}
