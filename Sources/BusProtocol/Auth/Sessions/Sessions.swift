import JSONText

/// Lists the sessions of an account.
@Message
public struct ListSessions: PublicRequest {
    public typealias Reply = SessionList
    public static let type: MessageType = "auth.list-sessions"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/auth/sessions", .user, "Lists the sessions of the account.")
}

/// The reply to ``ListSessions``. It leaves out sessions that ended or expired.
@Message
public struct SessionList: PublicReply {
    /// The sessions, the last used first.
    @Field(count: 0...100) public var sessions: [KnownSession]
}

/// A session as its owner sees it.
@Message
public struct KnownSession: MessageValue {
    /// The session.
    public var id: Identifier
    /// The device that the session is on.
    public var device: Device
    /// When the person signed in.
    public var createdAt: Timestamp
    /// When its tokens were last renewed.
    public var lastUsedAt: Timestamp
    /// Whether this is the session that asks.
    public var current: Bool

    /// The device that a session is on.
    @Message
    public struct Device: MessageValue {
        /// The device.
        public var id: Identifier
        /// What the person calls the device.
        @Field(.string(1...100)) public var name: String
        /// The device's operating system, or `web`.
        @Field(.platform) public var platform: String
    }
}

/// Ends one session of the account: the caller's own or another.
@Message
public struct EndSession: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "auth.end-session"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent, errors: [.unauthorized, .notFound])
    public static let route = HTTPRoute(
        .delete, "/auth/sessions/{id}", .user, "Ends one session.")

    /// The session.
    @Field(from: .path("id")) public var sessionId: Identifier
}

/// Ends every session of the account except the caller's.
@Message
public struct EndOtherSessions: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "auth.end-other-sessions"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .delete, "/auth/sessions", .user, "Ends every session but this one.")
}
