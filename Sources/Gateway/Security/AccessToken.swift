import BusProtocol
import Cryptography
import JSONText

/// What a verified access token says.
struct AccessToken: Sendable, Equatable {
    var actor: Actor
    /// Its `jti`; `nil` where that is none of auth's.
    var id: Identifier?
    /// Seconds since 1970.
    var issuedAt: Int64
    /// Seconds since 1970; from then on the token is over.
    var expiresAt: Int64
}

/// Why a token does not count.
enum TokenRefusal: Error, Equatable {
    /// Not a token of this house, or tampered with.
    case invalid
    /// Signed with a key that is not known here (yet).
    case unknownKey
    case expired
}

/// Checks access tokens: JWTs (RFC 9068) signed with Ed25519, in one form only.
struct AccessTokenVerifier: Sendable {
    static let longest = 2048
    /// Seconds that auth's clock may be ahead of ours.
    private static let clockSkew: Int64 = 60

    var issuer: String
    var audience: String
    /// Keys of auth by `kid`.
    var keys: [String: Ed25519PublicKey] = [:]

    /// - Parameter now: seconds since 1970.
    func verify(_ token: String, now: Int64) throws(TokenRefusal) -> AccessToken {
        guard token.utf8.count <= Self.longest else { throw .invalid }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let header = Self.object(parts[0]), let signature = Base64URL.decode(parts[2]) else {
            throw .invalid
        }
        // A header with any other member asks to be read by other rules: `crit`, `jku`, `jwk`, `x5u`.
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
            let role = claims["role"]?.string, ["user", "staff", "admin"].contains(role),
            let issuedAt = claims["iat"]?.integer, let expiresAt = claims["exp"]?.integer,
            issuedAt <= now + Self.clockSkew, issuedAt < expiresAt
        else { throw .invalid }
        return AccessToken(
            actor: Actor(userID: subject, sessionID: session, role: role), id: Identifier(id), issuedAt: issuedAt,
            expiresAt: expiresAt)
    }

    private static func object(_ text: String) -> JSONNode? {
        guard let bytes = Base64URL.decode(text), let root = try? JSONDocument(bytes).root, root.kind == .object else {
            return nil
        }
        return root
    }
}

/// Verified tokens by the SHA-256 of the whole token, since a look costs a hundredth of a signature check. Two
/// generations bound it: when the young one is full, the old one is forgotten.
struct TokenMemory: Sendable {
    private let generation: Int
    private var young: [[UInt8]: AccessToken] = [:]
    private var old: [[UInt8]: AccessToken] = [:]

    /// - Parameter capacity: tokens.
    init(capacity: Int = 20_000) { generation = max(1, capacity / 2) }

    var count: Int { young.count + old.count }

    mutating func recall(_ digest: [UInt8]) -> AccessToken? {
        if let token = young[digest] { return token }
        guard let token = old.removeValue(forKey: digest) else { return nil }
        remember(token, digest)
        return token
    }

    mutating func remember(_ token: AccessToken, _ digest: [UInt8]) {
        if young.count >= generation { (old, young) = (young, [:]) }
        young[digest] = token
    }
}
