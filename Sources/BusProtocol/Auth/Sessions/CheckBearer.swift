import JSONText

/// Asks whose access token this is, according to auth's own rows.
///
/// A service sends it before an act of weight, such as a recovery decision, because the gateway's word is not enough.
@Message
public struct CheckBearer: BusRequest {
    public typealias Reply = BearerChecked
    public static let type: MessageType = "auth.check-bearer"
    public static let rules = MessageRules(
        service: .auth, callers: [.profile, .questionnaire, .recovery, .verification], effect: .read,
        errors: [.unauthorized])

    /// The access token of the public request.
    @Field(.visibleASCII(1...2048)) public var accessToken: String
}

/// The reply to ``CheckBearer``: the token is valid, its session is active, and the person still has that role.
@Message
public struct BearerChecked: BusReply {
    /// The person.
    public var userID: Identifier
    /// The session that the token belongs to.
    public var sessionID: Identifier
    /// The person's role.
    @Field(.values("user", "staff", "admin")) public var role: Role
    /// The session signed in with a code within the last five minutes. For an account without a number, a linked
    /// identity counts as the code.
    public var isFresh: Bool?
}
