import JSONText

/// Asks for the public keys of access tokens (`GET /.well-known/jwks.json`).
@Message
public struct GetSigningKeys: BusRequest {
    public typealias Reply = SigningKeys
    public static let type: MessageType = "auth.get-jwks"
    public static let rules = MessageRules(service: .auth, callers: [.gateway], effect: .read)
}

/// A JSON Web Key Set (RFC 7517) of Ed25519 keys (RFC 8037).
@Message
public struct SigningKeys: PublicReply {
    /// Published keys that do not sign yet, the current key, and retired keys.
    @Field(count: 0...64) public var keys: [Key]

    /// One public key.
    @Message
    public struct Key: MessageValue {
        /// The public key, 32 bytes in base64url.
        @Field(.string(43...43), example: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo") public var x: String
        /// The key's ID, as in the header of a token.
        @Field(.string(1...64)) public var kid: String
        /// The key type, by RFC 8037.
        @Field(.values("OKP")) public var kty: String = "OKP"
        /// The curve.
        @Field(.values("Ed25519")) public var crv: String = "Ed25519"
        /// The signature algorithm, by RFC 8037.
        @Field(.values("EdDSA")) public var alg: String = "EdDSA"
        /// The key verifies signatures.
        @Field(.values("sig")) public var use: String = "sig"
    }
}
