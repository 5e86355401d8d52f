import BusProtocol
import Cryptography
import JSONText

/// Makes access tokens: JSON Web Tokens (RFC 7519) in the profile of RFC 9068, signed with Ed25519 (RFC 8037).
struct AccessTokenIssuer: Sendable {
    /// The longest life of a token in seconds.
    static let lifetime: Int64 = 900
    static let issuer = "vestibule"

    let kid: String
    let key: Ed25519PrivateKey

    /// - Parameters:
    ///   - id: must be new for each token.
    ///   - app: the publishable key of the session's app; `nil` for the default app.
    func token(
        id: Identifier, person: Identifier, session: Identifier, app: String? = nil, grant: RolePolicy.Grant,
        now: Timestamp
    ) -> String {
        let seconds = now.microsecondsSinceEpoch / 1_000_000
        let header: JSONValue = ["alg": "EdDSA", "kid": .string(kid), "typ": "at+jwt"]
        var claims: [String: JSONValue] = [
            "iss": .string(Self.issuer), "aud": .string(Self.issuer), "sub": .string(person.description),
            "sid": .string(session.description), "role": .string(grant.role.rawValue), "iat": .integer(seconds),
            "exp": .integer(seconds + grant.lifetime), "jti": .string(id.description),
        ]
        if let app { claims["app"] = .string(app) }
        let signed = [header, .object(claims)].map { Base64URL.encode(CanonicalJSON.bytes(of: $0)) }.joined(
            separator: ".")
        return "\(signed).\(Base64URL.encode(key.signature(for: Array(signed.utf8))))"
    }
}
