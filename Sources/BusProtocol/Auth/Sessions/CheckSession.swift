import JSONText

/// Asks whether a session is active. A gateway asks while it cannot follow the log of revocations. Recovery asks before
/// somebody decides.
@Message
public struct CheckSession: BusRequest {
    public typealias Reply = SessionChecked
    public static let type: MessageType = "auth.check-session"
    public static let rules = MessageRules(service: .auth, callers: [.gateway, .recovery], effect: .read)

    /// The session.
    public var sessionID: Identifier
}

/// The answer to ``CheckSession``.
@Message
public struct SessionChecked: BusReply {
    /// False for a revoked session and for one that does not exist.
    public var isActive: Bool
}
