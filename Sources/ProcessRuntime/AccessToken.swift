import BusProtocol
import Cryptography
import JSONText

/// The claims of a verified access token.
package struct AccessToken: Sendable, Equatable {
    /// The person, the session, the role and the app.
    package var actor: Actor
    /// Its `jti`; `nil` if auth did not make the `jti`.
    package var id: Identifier?
    /// When the token was issued, in seconds since 1970.
    package var issuedAt: Int64
    /// When the token expires, in seconds since 1970.
    package var expiresAt: Int64
}

/// Why a token is refused.
package enum TokenRefusal: Error, Equatable {
    /// It is not a token of auth, or it was changed.
    case invalid
    /// Its key is not known here, perhaps not yet.
    case unknownKey
    case expired
}

/// Verifies access tokens: JWTs (RFC 9068) signed with Ed25519, in exactly one form.
package struct AccessTokenVerifier: Sendable {
    /// The longest token, in bytes.
    package static let longest = 2048
    /// How far auth's clock may be ahead of ours, in seconds.
    private static let clockSkew: Int64 = 60

    private let issuer: String
    private let audience: String
    /// Auth's public keys by `kid`.
    package var keys: [String: Ed25519PublicKey]

    /// Takes the issuer and the audience that a token must name.
    package init(issuer: String, audience: String, keys: [String: Ed25519PublicKey] = [:]) {
        (self.issuer, self.audience, self.keys) = (issuer, audience, keys)
    }

    /// Verifies a token.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: ``TokenRefusal``.
    package func verify(_ token: String, now: Int64) throws(TokenRefusal) -> AccessToken {
        guard token.utf8.count <= Self.longest else { throw .invalid }
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard parts.count == 3, let header = Self.object(parts[0]), let signature = Base64URL.decode(parts[2]) else {
            throw .invalid
        }
        // Other header members, such as `crit`, `jku`, `jwk` and `x5u`, would require other rules.
        guard Set(header.members.map(\.name)) == ["alg", "typ", "kid"], header["alg"]?.string == "EdDSA",
            header["typ"]?.string == "at+jwt", let kid = header["kid"]?.string
        else { throw .invalid }
        guard let key = keys[kid] else { throw .unknownKey }
        let signed = Array("\(parts[0]).\(parts[1])".utf8)
        guard key.isValid(signature: signature, for: signed), let claims = Self.object(parts[1]) else { throw .invalid }
        let read = try read(claims, now: now)
        guard read.expiresAt > now else { throw .expired }
        return read
    }

    private func read(_ claims: JSONNode, now: Int64) throws(TokenRefusal) -> AccessToken {
        guard claims["iss"]?.string == issuer, claims["aud"]?.string == audience, let id = claims["jti"]?.string,
            let subject = claims["sub"]?.string.flatMap(Identifier.init),
            let session = claims["sid"]?.string.flatMap(Identifier.init),
            let role = claims["role"]?.string.map(Role.init(rawValue:)), [.user, .staff, .admin].contains(role),
            let issuedAt = claims["iat"]?.integer, let expiresAt = claims["exp"]?.integer,
            issuedAt <= now + Self.clockSkew, issuedAt < expiresAt,
            claims["app"].map({ JSONSchema.publishableKey.problems(in: $0).isEmpty }) ?? true
        else { throw .invalid }
        return AccessToken(
            actor: Actor(userID: subject, sessionID: session, role: role, app: claims["app"]?.string),
            id: Identifier(id), issuedAt: issuedAt,
            expiresAt: expiresAt)
    }

    private static func object(_ text: String) -> JSONNode? {
        guard let bytes = Base64URL.decode(text), let root = try? JSONDocument(bytes).root, root.kind == .object else {
            return nil
        }
        return root
    }
}
