import JSONText

/// A gateway saw an access token for the first time, shortly after it was issued.
///
/// So the reply with the token was not lost, and nobody needs the previous refresh token any more.
@Message
public struct NoteTokenUse: BusRequest {
    public typealias Reply = Acknowledged
    public static let type: MessageType = "auth.note-token-use"
    public static let rules = MessageRules(service: .auth, callers: [.gateway], effect: .idempotent)
    /// A gateway reports only access tokens younger than this, in seconds. After that nobody may repeat the refresh.
    public static let concern: Int64 = 75

    /// The session that the token belongs to.
    public var sessionID: Identifier
    /// The token's `jti`.
    public var tokenID: Identifier
}
