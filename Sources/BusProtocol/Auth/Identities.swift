import JSONText

/// The identities that are linked to an account (`GET /auth/identities`).
public struct ListIdentities: BusRequest {
    public typealias Reply = IdentityList
    public static let type: MessageType = "auth.list-identities"
    public static let schema = JSONSchema.object([])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public init() {}
}

/// The answer to ``ListIdentities``, by provider.
public struct IdentityList: PublicReply {
    public static let schema = JSONSchema.object([
        .required(
            "identities",
            .array(
                of: .object([
                    .required("provider", .values("apple", "google")),
                    .optional("email", .string(1...16), "As much of it as its owner knows it by: a…@e…"),
                    .required("linkedAt", .dateTime), .required("lastUsedAt", .dateTime),
                    .optional("toConfirm", .boolean, "It opens the account again once it is linked once more"),
                ]), count: 0...2))
    ])

    public struct Identity: Codable, Sendable, Equatable {
        public var provider: String
        /// Masked; `nil` where the provider vouches for none.
        public var email: String?
        public var linkedAt: Timestamp
        public var lastUsedAt: Timestamp
        /// The account was recovered since it was linked.
        public var toConfirm: Bool?

        public init(
            provider: String, email: String?, linkedAt: Timestamp, lastUsedAt: Timestamp, toConfirm: Bool? = nil
        ) {
            (self.provider, self.email, self.toConfirm) = (provider, email, toConfirm)
            (self.linkedAt, self.lastUsedAt) = (linkedAt, lastUsedAt)
        }
    }

    public var identities: [Identity]
    public init(identities: [Identity]) { self.identities = identities }
}

/// Unlinks an identity and ends the sessions that it opened (`DELETE /auth/identities/{provider}`); where none is linked,
/// nothing happens.
public struct UnlinkIdentity: BusRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "auth.unlink-identity"
    public static let schema = JSONSchema.object([.required("provider", .values("apple", "google"))])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .reauthenticationRequired, .accountFrozen, .lastWayIn])

    public var provider: String
    public init(provider: String) { self.provider = provider }
}

/// Takes a notification of Apple's about an identity (`POST /auth/social/apple/notifications`): its owner withdrew the
/// consent, deleted the Apple account, or has another e-mail address. Each is taken once, by its `jti`.
public struct TakeAppleNotification: BusRequest {
    public typealias Reply = AppleNotificationTaken
    public static let type: MessageType = "auth.take-apple-notification"
    public static let schema = JSONSchema.object([.required("payload", .string(1...16_384), "Signed by Apple")])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent,
        errors: [.identityTokenInvalid, .identityProviderUnavailable])

    public var payload: String
    public init(payload: String) { self.payload = payload }
}

/// The answer to ``TakeAppleNotification``: Apple looks for a 200.
public struct AppleNotificationTaken: PublicReply {
    public static let schema = JSONSchema.object([])
    public init() {}
}
