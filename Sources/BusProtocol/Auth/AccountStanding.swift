import JSONText

/// Takes an account out of use, for staff (`POST /admin/users/{id}/suspend`): its sessions end, it cannot be signed in to, and
/// others do not see the person. An account that is suspended already stays as it is.
///
/// The access token of who decides goes along; auth holds it against its own rows.
public struct SuspendAccount: BusRequest {
    public typealias Reply = AccountStanding
    public static let type: MessageType = "auth.suspend-account"
    public static let schema = AccountStanding.request
    public static let rules = AccountStanding.rules

    public var personId: Identifier
    public var note: String
    public init(personId: Identifier, note: String) { (self.personId, self.note) = (personId, note) }
}

/// Gives a suspended account back to its person, for staff (`POST /admin/users/{id}/restore`). The sessions that ended stay
/// ended.
public struct RestoreAccount: BusRequest {
    public typealias Reply = AccountStanding
    public static let type: MessageType = "auth.restore-account"
    public static let schema = AccountStanding.request
    public static let rules = AccountStanding.rules

    public var personId: Identifier
    public var note: String
    public init(personId: Identifier, note: String) { (self.personId, self.note) = (personId, note) }
}

/// Suspends an account or restores it for an operator, whose name stands in the account's trail (`vestibule account suspend`).
public struct ChangeStandingAsOperator: BusRequest {
    public typealias Reply = AccountStanding
    public static let type: MessageType = "auth.change-standing-as-operator"
    public static let schema = JSONSchema.object([
        .required("personId", .uuid), .required("isSuspended", .boolean),
        .required("note", .string(1...1000), "Why; kept sealed with the account"),
        .required("operatorName", .string(.init(length: 1...64, format: .visibleASCII)), "Who does it, for the trail"),
    ])
    public static let rules = MessageRules(
        service: .auth, callers: [.operator], effect: .once, errors: [.forbidden, .notFound])

    public var personId: Identifier
    public var isSuspended: Bool
    public var note: String
    public var operatorName: String

    public init(personId: Identifier, isSuspended: Bool, note: String, operatorName: String) {
        (self.personId, self.isSuspended) = (personId, isSuspended)
        (self.note, self.operatorName) = (note, operatorName)
    }
}

/// How an account stands.
public struct AccountStanding: PublicReply {
    public static let schema = JSONSchema.object([
        .required("personId", .uuid), .required("status", .string(1...32), "active or suspended"),
    ])
    static let request = JSONSchema.object([
        .required("personId", .uuid), .required("note", .string(1...1000), "Why; kept sealed with the account"),
    ])
    static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once, errors: [.unauthorized, .forbidden, .notFound])

    public var personId: Identifier
    public var status: String
    public init(personId: Identifier, status: String) { (self.personId, self.status) = (personId, status) }
}

/// An account was suspended or restored.
public struct AccountStatusChanged: BusEvent {
    public static let type: MessageType = "auth.account-status-changed"
    public static let schema = JSONSchema.object([
        .required("personID", .uuid), .required("personSequence", .integer(0...9_007_199_254_740_991)),
        .required("status", .string(1...32)), .required("changedAt", .dateTime),
    ])
    public static let rules = MessageRules(service: .profile, callers: [.auth], effect: .idempotent)

    public var personID: Identifier
    public var personSequence: Int64
    /// `active` or `suspended`; an open set.
    public var status: String
    public var changedAt: Timestamp

    public init(personID: Identifier, personSequence: Int64 = 0, status: String, changedAt: Timestamp) {
        (self.personID, self.personSequence) = (personID, personSequence)
        (self.status, self.changedAt) = (status, changedAt)
    }
}
