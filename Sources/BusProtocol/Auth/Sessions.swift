import JSONText

/// The sessions of an account (`GET /auth/sessions`).
public struct ListSessions: BusRequest {
    public typealias Reply = SessionList
    public static let type: MessageType = "auth.list-sessions"
    public static let schema = JSONSchema.object([])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public init() {}
}

/// The answer to ``ListSessions``, the session used last first. One that ended, or is too old to be used, is not in it.
public struct SessionList: PublicReply {
    public static let schema = JSONSchema.object([
        .required("sessions", .array(of: KnownSession.schema, count: 0...100))
    ])
    public var sessions: [KnownSession]
    public init(sessions: [KnownSession]) { self.sessions = sessions }
}

/// A session as its owner sees it.
public struct KnownSession: Codable, Sendable, Equatable {
    public static let schema = JSONSchema.object([
        .required("id", .uuid), .required("device", Device.schema), .required("createdAt", .dateTime),
        .required("lastUsedAt", .dateTime), .required("current", .boolean),
    ])
    public var id: Identifier
    public var device: Device
    public var createdAt: Timestamp
    /// When its tokens were last renewed.
    public var lastUsedAt: Timestamp
    /// The session that asks.
    public var current: Bool

    /// The device that a session is on.
    public struct Device: Codable, Sendable, Equatable {
        public static let schema = JSONSchema.object([
            .required("id", .uuid), .required("name", .string(1...100)),
            .required("platform", .values("ios", "android", "web")),
        ])
        public var id: Identifier
        public var name: String
        public var platform: String
        public init(id: Identifier, name: String, platform: String) {
            (self.id, self.name, self.platform) = (id, name, platform)
        }
    }

    public init(id: Identifier, device: Device, createdAt: Timestamp, lastUsedAt: Timestamp, current: Bool) {
        self.id = id
        self.device = device
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
        self.current = current
    }
}

/// Ends one session of the account (`DELETE /auth/sessions/{id}`), the caller's own or another.
public struct EndSession: BusRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "auth.end-session"
    public static let schema = JSONSchema.object([.required("sessionId", .uuid)])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent, errors: [.unauthorized, .notFound])
    public var sessionId: Identifier
    public init(sessionId: Identifier) { self.sessionId = sessionId }
}

/// Ends every session of the account but the caller's (`DELETE /auth/sessions`).
public struct EndOtherSessions: BusRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "auth.end-other-sessions"
    public static let schema = JSONSchema.object([])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public init() {}
}
