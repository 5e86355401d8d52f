import JSONText

/// Lists the identities that are linked to an account.
@Message
public struct ListIdentities: PublicRequest {
    public typealias Reply = IdentityList
    public static let type: MessageType = "auth.list-identities"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/auth/identities", .user, "Lists the linked identities.")
}

/// The reply to ``ListIdentities``.
@Message
public struct IdentityList: PublicReply {
    /// At most one for each provider, by provider.
    @Field(count: 0...2) public var identities: [Identity]
    /// The email address that opens the account by a code; missing if there is none.
    public var email: Email?

    /// A linked email address.
    @Message
    public struct Email: MessageValue {
        /// The address, masked so that only its owner recognises it: `a…@e…`.
        @Field(.string(1...16), example: "a…@e…") public var email: String
        /// When the address was linked.
        public var linkedAt: Timestamp
        /// When a code to the address last signed in.
        public var lastUsedAt: Timestamp
    }

    /// A linked identity.
    @Message
    public struct Identity: MessageValue {
        /// Who vouches for the identity.
        @Field(.identityProvider) public var provider: String
        /// The e-mail address, masked so that only its owner recognises it: `a…@e…`.
        ///
        /// Missing if the provider vouches for no address.
        @Field(.string(1...16), example: "a…@e…") public var email: String?
        /// When the identity was linked.
        public var linkedAt: Timestamp
        /// When the identity last signed in.
        public var lastUsedAt: Timestamp
        /// The identity signs in to the account only after it is linked again.
        public var toConfirm: Bool?
    }
}

/// Links an Apple or Google identity to the account of a signed-in person. If it is linked to it already, nothing changes.
///
/// An account that only an email address opens needs a phone number first.
@Message
public struct LinkIdentity: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "auth.link-identity"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once,
        errors: [
            .unauthorized, .reauthenticationRequired, .accountFrozen, .forbidden, .identityTokenInvalid, .identityInUse,
            .providerAlreadyLinked, .identityProviderUnavailable, .methodNotAvailable,
        ])
    public static let route = HTTPRoute(
        .post, "/auth/identities", .user, "Links an identity to the account.", carriesToken: true)

    /// Who vouches for the identity.
    @Field(.identityProvider) public var provider: String
    /// The provider's identity token.
    @Field(.string(1...16_384)) public var identityToken: String
    /// The nonce from `POST /auth/social/nonce`, as it was issued.
    @Field(.string(1...256)) public var nonce: String
    /// Apple's code, which is exchanged once for a token, so that unlinking can revoke it at Apple.
    @Field(.string(1...1024)) public var authorizationCode: String?
}

/// Unlinks an identity and ends the sessions that it opened. If none is linked, nothing changes.
@Message
public struct UnlinkIdentity: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "auth.unlink-identity"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .reauthenticationRequired, .accountFrozen, .lastWayIn])
    public static let route = HTTPRoute(
        .delete, "/auth/identities/{provider}", .user, "Unlinks an identity.")

    /// Who vouches for the identity.
    @Field(.identityProvider, from: .path("provider")) public var provider: String
}

/// Apple reports a change of an identity: its owner withdrew the consent, deleted the Apple account, or has another
/// e-mail address.
///
/// Each notification takes effect once, by its `jti`.
@Message
public struct TakeAppleNotification: PublicRequest {
    public typealias Reply = AppleNotificationTaken
    public static let type: MessageType = "auth.take-apple-notification"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent,
        errors: [.identityTokenInvalid, .identityProviderUnavailable, .methodNotAvailable])
    public static let route = HTTPRoute(
        .post, "/auth/social/apple/notifications", .public, "Receives Apple's notifications about an identity.")

    /// The notification, signed by Apple.
    @Field(.string(1...16_384), example: "eyJhbGciOiJSUzI1NiJ9.e30.c2lnbmF0dXJl") public var payload: String
}

/// The reply to ``TakeAppleNotification``. Apple expects status 200.
@Message
public struct AppleNotificationTaken: PublicReply {
}
