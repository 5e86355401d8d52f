import BusProtocol
import Cryptography
import Foundation
import JSONText

/// The name of an identity provider.
enum IdentityProviderName: String, Sendable, CaseIterable, Codable {
    case apple, google

    /// The provider's name in texts for people.
    var title: String {
        switch self {
        case .apple: "Apple"
        case .google: "Google"
        }
    }
}

/// The tokens of one provider that are accepted.
struct IdentityProvider: Sendable, Equatable {
    let name: IdentityProviderName
    let issuer: String
    /// The app's client ids at the provider.
    let audiences: Set<String>
    /// Whether a token may have the nonce itself in place of its SHA-256.
    let takesRawNonce: Bool

    /// Whether a text names this issuer. Google's may be written with or without `https://`.
    func isIssuer(_ text: String) -> Bool {
        guard name == .google else { return text == issuer }
        return Self.withoutScheme(text) == Self.withoutScheme(issuer)
    }

    private static func withoutScheme(_ text: String) -> Substring {
        text.hasPrefix("https://") ? text.dropFirst("https://".count) : text[...]
    }
}

/// Why a token is refused. The caller does not learn the reason, since it would help a forger.
enum IdentityTokenRefusal: Error, Equatable {
    /// The text does not have the one form that is accepted.
    case malformed
    /// The header asks for something unsupported, such as another algorithm or a key of its own.
    case header
    /// The provider does not have the key.
    case unknownKey
    case signature
    case issuer, audience, authorizedParty, subject, expired, future, nonce
}

/// A parsed JSON Web Token (RFC 7519) in compact form. It is not verified yet.
struct IdentityToken: Sendable {
    /// In bytes. Tokens of Apple and Google have about a thousand.
    static let longest = 8192
    /// How many seconds the provider's clock and ours may differ.
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
        // Other members are refused. A key that comes with the token (`jwk`, `jku`, `x5c`, `x5u`) proves nothing.
        // Members such as `crit`, `b64` and `zip` change the rules of reading.
        guard Set(header.members.map(\.name)).isSubset(of: ["alg", "kid", "typ"]),
            header["typ"].map({ $0.string?.uppercased() == "JWT" }) ?? true,
            let algorithm = header["alg"]?.string, ["RS256", "ES256"].contains(algorithm),
            let kid = header["kid"]?.string
        else { throw .header }
        (self.kid, self.algorithm, self.claims) = (kid, algorithm, claims)
        (signed, self.signature) = (Array("\(parts[0]).\(parts[1])".utf8), signature)
    }

    /// Parses a part of the token. The strict reader refuses duplicate members and everything else that is ambiguous.
    private static func object(_ text: String) -> JSONNode? {
        guard let bytes = Base64URL.decode(text), let root = try? JSONDocument(bytes).root, root.kind == .object else {
            return nil
        }
        return root
    }

    /// Checks what holds for all tokens of a provider: signature, issuer, audience and time.
    ///
    /// - Parameters:
    ///   - key: the provider's key with the token's `kid`; `nil` if it has none.
    ///   - now: seconds since 1970.
    func verified(
        by provider: IdentityProvider, key: ProviderKey?, now: Int64
    ) throws(IdentityTokenRefusal) -> VerifiedToken {
        guard let key else { throw .unknownKey }
        // The key decides about the algorithm, not the token.
        guard key.algorithm == algorithm else { throw .header }
        guard key.isValid(signature: signature, for: signed) else { throw .signature }
        guard let issuer = claims["iss"]?.string, provider.isIssuer(issuer) else { throw .issuer }
        // The audience must be a single text: another audience of the token could present it here.
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

/// A token that its provider signed for this app.
struct VerifiedToken: Sendable {
    let provider: IdentityProvider
    let audience: String
    /// Seconds since 1970.
    let issuedAt: Int64
    let claims: JSONNode

    /// The identity in the token.
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

    /// The person's details in the token; `nil` if it has none that are usable. Apple's tokens have no name.
    var prefill: SignInPrefill? {
        let prefill = SignInPrefill(
            name: Self.name(claims["name"]?.string), picture: Self.picture(claims["picture"]?.string))
        return prefill.name == nil && prefill.picture == nil ? nil : prefill
    }

    private static func name(_ text: String?) -> String? {
        let name = text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        let isUsable =
            (1...200).contains(name.unicodeScalars.count)
            && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
        return isUsable ? name : nil
    }

    private static func picture(_ text: String?) -> String? {
        guard let text, text.utf8.count <= 2048, let url = URL(string: text), url.scheme == "https", url.host != nil
        else { return nil }
        return text
    }

    /// Only an address that the provider has verified is ever shown. Apple writes `email_verified` as a text or a
    /// boolean.
    private static func email(_ email: String?, isVerified: JSONNode?) -> MaskedEmail? {
        guard isVerified?.bool == true || isVerified?.string == "true" else { return nil }
        return email.flatMap { MaskedEmail($0) }
    }
}

/// A person's identity at a provider. Issuer and subject identify it, never the e-mail address.
struct ProvenIdentity: Sendable, Equatable, Codable {
    let provider: IdentityProviderName
    let issuer: String
    let subject: String
    /// The client id that the token was made for.
    let audience: String
    /// For display only.
    let email: MaskedEmail?

    private static let longestSubject = 255

    func with(_ email: MaskedEmail) -> ProvenIdentity {
        ProvenIdentity(provider: provider, issuer: issuer, subject: subject, audience: audience, email: email)
    }

    static func isSubject(_ text: String) -> Bool {
        (1...longestSubject).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
}

/// An e-mail address as its owner recognizes it: `a…@e…`. It has no complete host name, since a phone would make that a
/// link.
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
