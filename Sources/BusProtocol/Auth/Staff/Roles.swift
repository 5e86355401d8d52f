import JSONText

/// Gives a person a role, or takes it away (`vestibule role grant`, `vestibule role revoke`).
///
/// The person's sessions end with it. Where the role is `admin` a second operator must ask for the same thing within a day.
/// Asked again with another key, it is answered with what is so by then.
@Message
public struct ChangeRole: BusRequest {
    public typealias Reply = RoleChanged
    public static let type: MessageType = "auth.change-role"
    public static let rules = MessageRules(
        service: .auth, callers: [.operator], effect: .once, errors: [.notFound])

    public var userID: Identifier
    @Field(.values("staff", "admin")) public var role: String
    /// False to take it away.
    public var isGranted: Bool
    /// Who does it, for the audit trail.
    @Field(.visibleASCII(1...64)) public var operatorName: String
}

/// The answer to ``ChangeRole``.
@Message
public struct RoleChanged: BusReply {
    /// What the person is now.
    @Field(.values("user", "staff", "admin")) public var role: String
    /// changed, unchanged or awaiting_second_operator.
    @Field(.string(1...32)) public var status: String
}

/// Who has a role, and which changes wait for a second operator (`vestibule role ls`).
@Message
public struct ListRoles: BusRequest {
    public typealias Reply = RoleList
    public static let type: MessageType = "auth.list-roles"
    public static let rules = MessageRules(service: .auth, callers: [.operator], effect: .read)
}

/// The answer to ``ListRoles``.
@Message
public struct RoleList: BusReply {
    /// Of each of the two lists.
    public static let most = 1000

    @Field(count: 0...most) public var people: [Person]
    /// Changes of the role `admin` that one operator asked for.
    @Field(count: 0...most) public var awaiting: [Proposal]

    @Message
    public struct Person: MessageValue {
        public var userID: Identifier
        @Field(.values("staff", "admin")) public var role: String
    }

    @Message
    public struct Proposal: MessageValue {
        public var userID: Identifier
        public var isGranted: Bool
        @Field(.string(1...64)) public var operatorName: String
        public var until: Timestamp
    }
}
