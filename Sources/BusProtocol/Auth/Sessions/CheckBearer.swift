import JSONText

/// Asks whose an access token is, as auth's own rows say: for a service that decides something of weight, such as a recovery,
/// and does not take a gateway's word for who does it.
@Message
public struct CheckBearer: BusRequest {
    public typealias Reply = BearerChecked
    public static let type: MessageType = "auth.check-bearer"
    public static let rules = MessageRules(
        service: .auth, callers: [.profile, .questionnaire, .recovery], effect: .read, errors: [.unauthorized])

    @Field(.visibleASCII(1...2048)) public var accessToken: String
}

/// The answer to ``CheckBearer``: the token is good, its session is alive, and its bearer still has that role.
@Message
public struct BearerChecked: BusReply {
    public var userID: Identifier
    public var sessionID: Identifier
    @Field(.values("user", "staff", "admin")) public var role: String
    /// A code opened the session within five minutes; where the account has no number, a linked identity did.
    public var isFresh: Bool?
}
