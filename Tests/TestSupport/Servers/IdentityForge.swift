import Cryptography
import EventLoop
import Foundation
import JSONText

/// Signs identity tokens as Apple and Google do, and publishes its key as they do.
package struct IdentityForge: Sendable {
    package static let audience = "org.example.app"
    /// The audience of the same app on another platform.
    package static let otherAudience = "org.example.web"

    package let key = P256PrivateKey()
    package let kid = "forge-1"

    package init() {}

    /// The `iss` of a provider's tokens.
    package static func issuer(_ provider: String) -> String {
        provider == "apple" ? "https://appleid.apple.com" : "https://accounts.google.com"
    }

    /// The key set that a provider publishes.
    package var keySet: JSONValue { ["keys": [jwk]] }

    package var jwk: JSONValue {
        [
            "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": .string(kid),
            "x": .string(Base64URL.encode(key.publicKey.x)), "y": .string(Base64URL.encode(key.publicKey.y)),
        ]
    }

    package var header: JSONValue { ["alg": "ES256", "kid": .string(kid), "typ": "JWT"] }

    /// The claims of a token that is issued now.
    ///
    /// - Parameter nonce: the nonce that auth issued.
    package func claims(_ provider: String, subject: String, nonce: String) -> [String: JSONValue] {
        let now = Int64(Date().timeIntervalSince1970)
        return [
            "iss": .string(Self.issuer(provider)), "aud": .string(Self.audience), "sub": .string(subject),
            "iat": .integer(now), "exp": .integer(now + 600), "email": "anna@example.org", "email_verified": true,
            "nonce": .string(Hex.encode(SHA256.digest(Array(nonce.utf8)))),
        ]
    }

    package func token(_ provider: String, subject: String, nonce: String) -> String {
        sign(header, .object(claims(provider, subject: subject, nonce: nonce)))
    }

    /// A signed notification from Apple.
    package func notification(
        _ type: String, subject: String, id: String, email: String? = nil, age: Int64 = 0
    ) -> String {
        let now = Int64(Date().timeIntervalSince1970) - age
        var event: [String: JSONValue] = [
            "type": .string(type), "sub": .string(subject), "event_time": .integer(now * 1000),
        ]
        if let email { event["email"] = .string(email) }
        let text = String(decoding: CanonicalJSON.bytes(of: .object(event)), as: UTF8.self)
        return sign(
            header,
            [
                "iss": .string(Self.issuer("apple")), "aud": .string(Self.audience), "iat": .integer(now),
                "jti": .string(id), "events": .string(text),
            ])
    }

    package func sign(_ header: JSONValue, _ claims: JSONValue) -> String {
        sign(CanonicalJSON.bytes(of: header), CanonicalJSON.bytes(of: claims))
    }

    /// Signs any bytes, even if they are not JSON.
    package func sign(_ header: [UInt8], _ claims: [UInt8]) -> String {
        let signed = "\(Base64URL.encode(header)).\(Base64URL.encode(claims))"
        return "\(signed).\(Base64URL.encode(key.signature(for: Array(signed.utf8))))"
    }

    /// The variables of an auth service that accepts both providers, with their key set at this URL.
    package static func variables(keySet url: String) -> [String: String] {
        var variables: [String: String] = [:]
        for provider in ["APPLE", "GOOGLE"] {
            variables["AUTH_\(provider)_JWKS_URL"] = url
            variables["AUTH_\(provider)_AUDIENCES"] = "\(audience),\(otherAudience)"
        }
        return variables
    }
}
