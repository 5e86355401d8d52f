import JSONText

/// Asks for the public keys of access tokens (`GET /.well-known/jwks.json`).
@Message
public struct GetSigningKeys: BusRequest {
    public typealias Reply = SigningKeys
    public static let type: MessageType = "auth.get-jwks"
    public static let rules = MessageRules(service: .auth, callers: [.gateway], effect: .read)
}

/// A JSON Web Key Set (RFC 7517) of Ed25519 keys (RFC 8037): published, current and retired ones alike.
@Message
public struct SigningKeys: PublicReply {
    @Field(count: 0...64) public var keys: [Key]

    @Message
    public struct Key: MessageValue {
        /// The public key, 32 bytes in base64url.
        @Field(.string(43...43)) public var x: String
        @Field(.string(1...64)) public var kid: String
        @Field(.values("OKP")) public var kty: String = "OKP"
        @Field(.values("Ed25519")) public var crv: String = "Ed25519"
        @Field(.values("EdDSA")) public var alg: String = "EdDSA"
        @Field(.values("sig")) public var use: String = "sig"
    }
}
