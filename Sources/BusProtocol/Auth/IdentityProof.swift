import JSONText

/// A sign-in with Apple or Google of this moment, shown as a proof and not to sign in with.
public struct IdentityProof: Codable, Sendable, Equatable {
    public static let schema = JSONSchema.object([
        .required("provider", .values("apple", "google")), .required("identityToken", .string(1...16_384)),
        .required("nonce", .string(1...256), "Of `POST /auth/social/nonce`; it is spent, whatever comes of it"),
    ])
    /// `apple` or `google`.
    public var provider: String
    public var identityToken: String
    /// As it was issued.
    public var nonce: String

    public init(provider: String, identityToken: String, nonce: String) {
        (self.provider, self.identityToken, self.nonce) = (provider, identityToken, nonce)
    }
}
