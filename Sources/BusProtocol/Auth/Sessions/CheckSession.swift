import JSONText

/// Asks whether a session is alive: what a gateway does while it does not hear the log of revocations, and recovery before
/// somebody decides.
@Message
public struct CheckSession: BusRequest {
    public typealias Reply = SessionChecked
    public static let type: MessageType = "auth.check-session"
    public static let rules = MessageRules(service: .auth, callers: [.gateway, .recovery], effect: .read)

    public var sessionID: Identifier
}

/// The answer to ``CheckSession``.
@Message
public struct SessionChecked: BusReply {
    /// False for a revoked session and for one that never was.
    public var isActive: Bool
}
