import JSONText

/// A sign-in with Apple or Google of this moment, shown as a proof and not to sign in with.
@Message
public struct IdentityProof: MessageValue {
    /// `apple` or `google`.
    @Field(.values("apple", "google")) public var provider: String
    @Field(.string(1...16_384)) public var identityToken: String
    /// Of `POST /auth/social/nonce`; it is spent, whatever comes of it.
    ///
    /// As it was issued.
    @Field(.string(1...256)) public var nonce: String
}
