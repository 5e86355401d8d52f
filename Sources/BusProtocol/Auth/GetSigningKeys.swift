import JSONText

/// Asks for the public keys of access tokens (`GET /.well-known/jwks.json`).
public struct GetSigningKeys: BusRequest {
    public typealias Reply = SigningKeys
    public static let type: MessageType = "auth.get-jwks"
    public static let schema = JSONSchema.object([])
    public static let rules = MessageRules(service: .auth, callers: [.gateway], effect: .read)
    public init() {}
}

/// A JSON Web Key Set (RFC 7517) of Ed25519 keys (RFC 8037): published, current and retired ones alike.
public struct SigningKeys: PublicReply {
    public static let schema = JSONSchema.object([.required("keys", .array(of: Key.schema, count: 0...64))])
    public var keys: [Key]

    public struct Key: Codable, Sendable, Equatable {
        static let schema = JSONSchema.object([
            .required("kty", .values("OKP")), .required("crv", .values("Ed25519")), .required("x", .string(43...43)),
            .required("kid", .string(1...64)), .required("alg", .values("EdDSA")), .required("use", .values("sig")),
        ])
        public var kty = "OKP"
        public var crv = "Ed25519"
        /// The public key, 32 bytes in base64url.
        public var x: String
        public var kid: String
        public var alg = "EdDSA"
        public var use = "sig"
        public init(x: String, kid: String) { (self.x, self.kid) = (x, kid) }
    }

    public init(keys: [Key]) { self.keys = keys }
}
