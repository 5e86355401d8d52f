import JSONText

/// A gateway saw an access token shortly after it was issued: for the first time, or for the first time since it settled.
///
/// So the reply with the token was not lost, and nobody needs the previous refresh token any more. A browser may still
/// need it, since it saves what a page keeps up to half a minute later.
@Message
public struct NoteTokenUse: BusRequest {
    public typealias Reply = Acknowledged
    public static let type: MessageType = "auth.note-token-use"
    public static let rules = MessageRules(service: .auth, callers: [.gateway], effect: .idempotent)
    /// A gateway reports nothing of an access token that it first sees at this age or later, in seconds. So a gateway that
    /// starts does not report each token that it sees.
    public static let concern: Int64 = 180
    /// The age, in seconds, at which a browser has surely saved the refresh token that came with an access token. A browser
    /// takes up to 45 seconds, clocks may differ by a minute, and 15 seconds are in reserve.
    public static let settling: Int64 = 120

    /// The session that the token belongs to.
    public var sessionID: Identifier
    /// The token's `jti`.
    public var tokenID: Identifier
}
