import JSONText

/// The sessions of an account.
@Message
public struct ListSessions: PublicRequest {
    public typealias Reply = SessionList
    public static let type: MessageType = "auth.list-sessions"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/auth/sessions", .user, "Lists the sessions of the account.")
}

/// The answer to ``ListSessions``, the session used last first. One that ended, or is too old to be used, is not in it.
@Message
public struct SessionList: PublicReply {
    @Field(count: 0...100) public var sessions: [KnownSession]
}

/// A session as its owner sees it.
@Message
public struct KnownSession: MessageValue {
    public var id: Identifier
    public var device: Device
    public var createdAt: Timestamp
    /// When its tokens were last renewed.
    public var lastUsedAt: Timestamp
    /// The session that asks.
    public var current: Bool

    /// The device that a session is on.
    @Message
    public struct Device: MessageValue {
        public var id: Identifier
        @Field(.string(1...100)) public var name: String
        @Field(.values("ios", "android", "web")) public var platform: String
    }
}

/// Ends one session of the account, the caller's own or another.
@Message
public struct EndSession: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "auth.end-session"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent, errors: [.unauthorized, .notFound])
    public static let route = HTTPRoute(
        .delete, "/auth/sessions/{id}", .user, "Ends one session.", success: 204)

    @Field(from: .path("id")) public var sessionId: Identifier
}

/// Ends every session of the account but the caller's.
@Message
public struct EndOtherSessions: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "auth.end-other-sessions"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .delete, "/auth/sessions", .user, "Ends every session but this one.", success: 204)
}
