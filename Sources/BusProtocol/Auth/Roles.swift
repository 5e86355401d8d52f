import JSONText

/// Gives a person a role, or takes it away (`vestibule role grant`, `vestibule role revoke`).
///
/// The person's sessions end with it. Where the role is `admin` a second operator must ask for the same thing within a day.
/// Asked again with another key, it is answered with what is so by then.
public struct ChangeRole: BusRequest {
    public typealias Reply = RoleChanged
    public static let type: MessageType = "auth.change-role"
    public static let schema = JSONSchema.object([
        .required("userID", .uuid), .required("role", .values("staff", "admin")), .required("isGranted", .boolean),
        .required(
            "operatorName", .string(.init(length: 1...64, format: .visibleASCII)), "Who does it, for the audit trail"),
    ])
    public static let rules = MessageRules(
        service: .auth, callers: [.operator], effect: .once, errors: [.notFound])

    public var userID: Identifier
    public var role: String
    /// False to take it away.
    public var isGranted: Bool
    public var operatorName: String

    public init(userID: Identifier, role: String, isGranted: Bool, operatorName: String) {
        (self.userID, self.role, self.isGranted, self.operatorName) = (userID, role, isGranted, operatorName)
    }
}

/// The answer to ``ChangeRole``.
public struct RoleChanged: BusReply {
    public static let schema = JSONSchema.object([
        .required("role", .values("user", "staff", "admin"), "What the person is now"),
        .required("status", .string(1...32), "changed, unchanged or awaiting_second_operator"),
    ])
    public var role: String
    public var status: String
    public init(role: String, status: String) { (self.role, self.status) = (role, status) }
}

/// Who has a role, and which changes wait for a second operator (`vestibule role ls`).
public struct ListRoles: BusRequest {
    public typealias Reply = RoleList
    public static let type: MessageType = "auth.list-roles"
    public static let schema = JSONSchema.object([])
    public static let rules = MessageRules(service: .auth, callers: [.operator], effect: .read)
    public init() {}
}

/// The answer to ``ListRoles``.
public struct RoleList: BusReply {
    /// Of each of the two lists.
    public static let most = 1000
    public static let schema = JSONSchema.object([
        .required(
            "people",
            .array(
                of: .object([.required("userID", .uuid), .required("role", .values("staff", "admin"))]), count: 0...most
            )),
        .required(
            "awaiting",
            .array(
                of: .object([
                    .required("userID", .uuid), .required("isGranted", .boolean),
                    .required("operatorName", .string(1...64)), .required("until", .dateTime),
                ]), count: 0...most)),
    ])
    public var people: [Person]
    /// Changes of the role `admin` that one operator asked for.
    public var awaiting: [Proposal]

    public struct Person: Codable, Sendable, Equatable {
        public var userID: Identifier
        public var role: String
        public init(userID: Identifier, role: String) { (self.userID, self.role) = (userID, role) }
    }

    public struct Proposal: Codable, Sendable, Equatable {
        public var userID: Identifier
        public var isGranted: Bool
        public var operatorName: String
        public var until: Timestamp
        public init(userID: Identifier, isGranted: Bool, operatorName: String, until: Timestamp) {
            (self.userID, self.isGranted, self.operatorName, self.until) = (userID, isGranted, operatorName, until)
        }
    }

    public init(people: [Person], awaiting: [Proposal]) { (self.people, self.awaiting) = (people, awaiting) }
}
