import JSONText

/// Asks whose an access token is, as auth's own rows say: for a service that decides something of weight, such as a recovery,
/// and does not take a gateway's word for who does it.
public struct CheckBearer: BusRequest {
    public typealias Reply = BearerChecked
    public static let type: MessageType = "auth.check-bearer"
    public static let schema = JSONSchema.object([
        .required("accessToken", .string(.init(length: 1...2048, format: .visibleASCII)))
    ])
    public static let rules = MessageRules(
        service: .auth, callers: [.profile, .questionnaire, .recovery], effect: .read, errors: [.unauthorized])
    public var accessToken: String
    public init(accessToken: String) { self.accessToken = accessToken }
}

/// The answer to ``CheckBearer``: the token is good, its session is alive, and its bearer still has that role.
public struct BearerChecked: BusReply {
    public static let schema = JSONSchema.object([
        .required("userID", .uuid), .required("sessionID", .uuid), .required("role", .values("user", "staff", "admin")),
        .optional("isFresh", .boolean),
    ])
    public var userID: Identifier
    public var sessionID: Identifier
    public var role: String
    /// A code opened the session within five minutes; where the account has no number, a linked identity did.
    public var isFresh: Bool?
    public init(userID: Identifier, sessionID: Identifier, role: String, isFresh: Bool? = nil) {
        (self.userID, self.sessionID, self.role, self.isFresh) = (userID, sessionID, role, isFresh)
    }
}
