import Cryptography
import JSONText

/// Somebody who says who a person is.
enum IdentityProviderName: String, Sendable, CaseIterable, Codable {
    case apple, google

    /// As people know it.
    var title: String {
        switch self {
        case .apple: "Apple"
        case .google: "Google"
        }
    }
}

/// What is taken of one provider.
struct IdentityProvider: Sendable, Equatable {
    let name: IdentityProviderName
    let issuer: String
    /// The app's client ids with it.
    let audiences: Set<String>
    /// The nonce may stand in a token as it was issued.
    let takesRawNonce: Bool

    /// Google writes its name in two ways, which are one issuer.
    func isIssuer(_ text: String) -> Bool {
        guard name == .google else { return text == issuer }
        return Self.withoutScheme(text) == Self.withoutScheme(issuer)
    }

    private static func withoutScheme(_ text: String) -> Substring {
        text.hasPrefix("https://") ? text.dropFirst("https://".count) : text[...]
    }
}

/// Why a token is not taken. The caller is told no more than that: the reason would help who forges.
enum IdentityTokenRefusal: Error, Equatable {
    /// No token of the one form that is read here.
    case malformed
    /// The header asks for what is not done here: another algorithm, a key that it brings along.
    case header
    /// The provider has no such key.
    case unknownKey
    case signature
    case issuer, audience, authorizedParty, subject, expired, future, nonce
}

/// A JSON Web Token (RFC 7519) in compact form, taken apart and not believed yet.
struct IdentityToken: Sendable {
    /// Bytes. Apple's and Google's have about a thousand.
    static let longest = 8192
    /// Seconds that the provider's clock and ours may differ by.
    static let leeway: Int64 = 60
    let kid: String
    private let algorithm: String
    private let claims: JSONNode
    private let signed: [UInt8]
    private let signature: [UInt8]

    init(_ text: String) throws(IdentityTokenRefusal) {
        guard text.utf8.count <= Self.longest else { throw .malformed }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else { throw .malformed }
        // A key or a place of one that comes with the token (`jwk`, `jku`, `x5c`, `x5u`) proves nothing, and `crit`, `b64`,
        // `zip` and their like ask to be read by other rules: a header with any other member is not taken at all.
        guard Set(header.members.map(\.name)).isSubset(of: ["alg", "kid", "typ"]),
            header["typ"].map({ $0.string?.uppercased() == "JWT" }) ?? true,
            let algorithm = header["alg"]?.string, ["RS256", "ES256"].contains(algorithm),
            let kid = header["kid"]?.string
        else { throw .header }
        (self.kid, self.algorithm, self.claims) = (kid, algorithm, claims)
        (signed, self.signature) = (Array("\(parts[0]).\(parts[1])".utf8), signature)
    }

    /// Duplicate members, nesting and everything else that two readers may read in two ways is refused by the reader.
    private static func object(_ text: String) -> JSONNode? {
        guard let bytes = Base64URL.decode(text), let root = try? JSONDocument(bytes).root, root.kind == .object else {
            return nil
        }
        return root
    }

    /// Checks everything that all tokens of a provider have in common.
    ///
    /// - Parameters:
    ///   - key: the provider's key of the token's `kid`.
    ///   - now: seconds since 1970.
    func verified(
        by provider: IdentityProvider, key: ProviderKey?, now: Int64
    ) throws(IdentityTokenRefusal) -> VerifiedToken {
        guard let key else { throw .unknownKey }
        // The key says which algorithm it is for, not the token.
        guard key.algorithm == algorithm else { throw .header }
        guard key.isValid(signature: signature, for: signed) else { throw .signature }
        guard let issuer = claims["iss"]?.string, provider.isIssuer(issuer) else { throw .issuer }
        // One audience, as text: who else was meant may hold the token, too.
        guard let audience = claims["aud"]?.string, provider.audiences.contains(audience) else { throw .audience }
        if provider.name == .google, let party = claims["azp"] {
            guard let id = party.string, provider.audiences.contains(id) else { throw .authorizedParty }
        }
        guard let issuedAt = claims["iat"]?.integer, issuedAt <= now + Self.leeway,
            claims["nbf"].map({ $0.integer.map { $0 <= now + Self.leeway } ?? false }) ?? true
        else { throw .future }
        return VerifiedToken(provider: provider, audience: audience, issuedAt: issuedAt, claims: claims)
    }
}

/// A token that its provider did sign, for this app.
struct VerifiedToken: Sendable {
    let provider: IdentityProvider
    let audience: String
    /// Seconds since 1970.
    let issuedAt: Int64
    let claims: JSONNode

    /// Who the token says somebody is.
    ///
    /// - Parameters:
    ///   - nonce: as it was issued.
    ///   - now: seconds since 1970.
    func identity(nonce: String, now: Int64) throws(IdentityTokenRefusal) -> ProvenIdentity {
        guard let expiresAt = claims["exp"]?.integer, expiresAt > now - IdentityToken.leeway else { throw .expired }
        guard let subject = claims["sub"]?.string, ProvenIdentity.isSubject(subject) else { throw .subject }
        guard let told = claims["nonce"]?.string else { throw .nonce }
        let hashed = Hex.encode(SHA256.digest(Array(nonce.utf8)))
        guard told == hashed || provider.takesRawNonce && told == nonce else { throw .nonce }
        return ProvenIdentity(
            provider: provider.name, issuer: provider.issuer, subject: subject, audience: audience,
            email: Self.email(claims["email"]?.string, isVerified: claims["email_verified"]))
    }

    /// Only one that the provider vouches for is shown to anybody; Apple writes the truth value as text as well.
    private static func email(_ email: String?, isVerified: JSONNode?) -> MaskedEmail? {
        guard isVerified?.bool == true || isVerified?.string == "true" else { return nil }
        return email.flatMap { MaskedEmail($0) }
    }
}

/// Who somebody is to a provider: the pair of issuer and subject, never an e-mail address.
struct ProvenIdentity: Sendable, Equatable, Codable {
    let provider: IdentityProviderName
    let issuer: String
    let subject: String
    /// The client id that the token was made for.
    let audience: String
    /// To show.
    let email: MaskedEmail?

    private static let longestSubject = 255

    func with(_ email: MaskedEmail) -> ProvenIdentity {
        ProvenIdentity(provider: provider, issuer: issuer, subject: subject, audience: audience, email: email)
    }

    static func isSubject(_ text: String) -> Bool {
        (1...longestSubject).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
}

/// As much of an address as its owner knows it by: `a…@e…`. No whole name of a host, which a telephone would make a link of.
struct MaskedEmail: Sendable, Hashable, Codable {
    let text: String

    init?(_ address: String) {
        let parts = address.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let first = Self.letter(parts[0]), let host = Self.letter(parts[1]) else { return nil }
        text = "\(first)…@\(host)…"
    }

    private static func letter(_ part: Substring) -> Character? {
        part.first.flatMap { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : nil }
    }

    init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
