import JSONText

/// The identities that are linked to an account.
@Message
public struct ListIdentities: PublicRequest {
    public typealias Reply = IdentityList
    public static let type: MessageType = "auth.list-identities"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/auth/identities", .user, "Lists the linked identities.")
}

/// The answer to ``ListIdentities``, by provider.
@Message
public struct IdentityList: PublicReply {
    @Field(count: 0...2) public var identities: [Identity]

    @Message
    public struct Identity: MessageValue {
        @Field(.values("apple", "google")) public var provider: String
        /// As much of it as its owner knows it by: a…@e….
        ///
        /// Masked; missing where the provider vouches for none.
        @Field(.string(1...16)) public var email: String?
        public var linkedAt: Timestamp
        public var lastUsedAt: Timestamp
        /// It opens the account again once it is linked once more.
        public var toConfirm: Bool?
    }
}

/// Unlinks an identity and ends the sessions that it opened; where none is linked,
/// nothing happens.
@Message
public struct UnlinkIdentity: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "auth.unlink-identity"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .reauthenticationRequired, .accountFrozen, .lastWayIn])
    public static let route = HTTPRoute(
        .delete, "/auth/identities/{provider}", .user, "Unlinks an identity.", success: 204)

    @Field(.values("apple", "google"), from: .path("provider")) public var provider: String
}

/// Takes a notification of Apple's about an identity: its owner withdrew the
/// consent, deleted the Apple account, or has another e-mail address. Each is taken once, by its `jti`.
@Message
public struct TakeAppleNotification: PublicRequest {
    public typealias Reply = AppleNotificationTaken
    public static let type: MessageType = "auth.take-apple-notification"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent,
        errors: [.identityTokenInvalid, .identityProviderUnavailable])
    public static let route = HTTPRoute(
        .post, "/auth/social/apple/notifications", .public, "Takes what Apple tells of an identity.")

    /// Signed by Apple.
    @Field(.string(1...16_384)) public var payload: String
}

/// The answer to ``TakeAppleNotification``: Apple looks for a 200.
@Message
public struct AppleNotificationTaken: PublicReply {
}
