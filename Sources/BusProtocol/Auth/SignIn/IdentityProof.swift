import JSONText

/// A new sign-in with Apple or Google that serves as a proof. It opens no session.
@Message
public struct IdentityProof: MessageValue {
    /// `apple` or `google`.
    @Field(.identityProvider) public var provider: String
    /// The provider's identity token.
    @Field(.string(1...16_384)) public var identityToken: String
    /// The nonce from `POST /auth/social/nonce`. It is used up, whatever the result.
    @Field(.string(1...256)) public var nonce: String
}
