import JSONText

/// A gateway saw an access token for the first time, shortly after it was made: the answer that carried it was not lost, and
/// the refresh token before it is of no more use to anybody.
@Message
public struct NoteTokenUse: BusRequest {
    public typealias Reply = Acknowledged
    public static let type: MessageType = "auth.note-token-use"
    public static let rules = MessageRules(service: .auth, callers: [.gateway], effect: .idempotent)
    /// Seconds after which an access token need not be told of: nobody may repeat the refresh any more.
    public static let concern: Int64 = 75

    public var sessionID: Identifier
    /// The token's `jti`.
    public var tokenID: Identifier
}
