import JSONText

/// Gives a person a role or takes it away (`vestibule role grant`, `vestibule role revoke`).
///
/// The person's sessions end. For the role `admin`, a second operator must request the same change within a day. A
/// repetition with another key gets the state at that time.
@Message
public struct ChangeRole: BusRequest {
    public typealias Reply = RoleChanged
    public static let type: MessageType = "auth.change-role"
    public static let rules = MessageRules(
        service: .auth, callers: [.operator], effect: .once, errors: [.notFound])

    /// The person.
    public var userID: Identifier
    /// The role to give or take away.
    @Field(.values("staff", "admin")) public var role: Role
    /// False to take the role away.
    public var isGranted: Bool
    /// The operator's name, for the audit trail.
    @Field(.visibleASCII(1...64)) public var operatorName: String
}

/// The answer to ``ChangeRole``.
@Message
public struct RoleChanged: BusReply {
    /// The person's role now.
    @Field(.values("user", "staff", "admin")) public var role: Role
    /// `changed`, `unchanged` or `awaiting_second_operator`.
    @Field(.string(1...32)) public var status: String
}

/// Lists the people with a role, and the changes that await a second operator (`vestibule role ls`).
@Message
public struct ListRoles: BusRequest {
    public typealias Reply = RoleList
    public static let type: MessageType = "auth.list-roles"
    public static let rules = MessageRules(service: .auth, callers: [.operator], effect: .read)
}

/// The answer to ``ListRoles``.
@Message
public struct RoleList: BusReply {
    /// The most entries of each of the two lists.
    public static let most = 1000

    /// The people with a role.
    @Field(count: 0...most) public var people: [Person]
    /// Changes of the role `admin` that one operator has requested.
    @Field(count: 0...most) public var awaiting: [Proposal]

    /// A person with a role.
    @Message
    public struct Person: MessageValue {
        /// The person.
        public var userID: Identifier
        /// The person's role.
        @Field(.values("staff", "admin")) public var role: Role
    }

    /// A change of a role that awaits a second operator.
    @Message
    public struct Proposal: MessageValue {
        /// The person.
        public var userID: Identifier
        /// False to take the role away.
        public var isGranted: Bool
        /// The first operator.
        @Field(.string(1...64)) public var operatorName: String
        /// When the proposal expires.
        public var until: Timestamp
    }
}
