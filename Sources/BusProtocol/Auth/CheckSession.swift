import JSONText

/// Asks whether a session is alive: what a gateway does while it does not hear the log of revocations, and recovery before
/// somebody decides.
public struct CheckSession: BusRequest {
    public typealias Reply = SessionChecked
    public static let type: MessageType = "auth.check-session"
    public static let schema = JSONSchema.object([.required("sessionID", .uuid)])
    public static let rules = MessageRules(service: .auth, callers: [.gateway, .recovery], effect: .read)
    public var sessionID: Identifier
    public init(sessionID: Identifier) { self.sessionID = sessionID }
}

/// The answer to ``CheckSession``.
public struct SessionChecked: BusReply {
    public static let schema = JSONSchema.object([.required("isActive", .boolean)])
    /// False for a revoked session and for one that never was.
    public var isActive: Bool
    public init(isActive: Bool) { self.isActive = isActive }
}
