import JSONText

/// Staff takes an account out of use. Its sessions end, nobody can sign in to it, and others do not see the person.
///
/// An account that is already suspended stays as it is. The request carries the staff member's access token, and auth
/// checks it against its own rows.
@Message
public struct SuspendAccount: PublicRequest {
    public typealias Reply = AccountStanding
    public static let type: MessageType = "auth.suspend-account"
    public static let rules = AccountStanding.rules
    public static let route = HTTPRoute(
        .post, "/admin/users/{id}/suspend", .staff, "Suspends an account and ends its sessions.", carriesToken: true)

    /// The person whose account it is.
    @Field(from: .path("id")) public var personId: Identifier
    /// Why; kept encrypted with the account.
    @Field(.string(1...1000)) public var note: String
}

/// Staff gives a suspended account back to its person. The sessions that ended stay ended.
@Message
public struct RestoreAccount: PublicRequest {
    public typealias Reply = AccountStanding
    public static let type: MessageType = "auth.restore-account"
    public static let rules = AccountStanding.rules
    public static let route = HTTPRoute(
        .post, "/admin/users/{id}/restore", .staff, "Restores a suspended account.", carriesToken: true)

    /// The person whose account it is.
    @Field(from: .path("id")) public var personId: Identifier
    /// Why; kept encrypted with the account.
    @Field(.string(1...1000)) public var note: String
}

/// An operator suspends or restores an account (`vestibule account suspend`). The account's audit trail names the
/// operator.
@Message
public struct ChangeStandingAsOperator: BusRequest {
    public typealias Reply = AccountStanding
    public static let type: MessageType = "auth.change-standing-as-operator"
    public static let rules = MessageRules(
        service: .auth, callers: [.operator], effect: .once, errors: [.forbidden, .notFound])

    /// The person whose account it is.
    public var personId: Identifier
    /// True to suspend the account, false to restore it.
    public var isSuspended: Bool
    /// Why; kept encrypted with the account.
    @Field(.string(1...1000)) public var note: String
    /// The operator's name, for the audit trail.
    @Field(.visibleASCII(1...64)) public var operatorName: String
}

/// Whether an account is in use.
@Message
public struct AccountStanding: PublicReply {
    static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once, errors: [.unauthorized, .forbidden, .notFound])

    /// The person whose account it is.
    public var personId: Identifier
    /// `active` or `suspended`.
    @Field(.accountStatus) public var status: String
}

/// An account was suspended or restored.
@Message
public struct AccountStatusChanged: BusEvent {
    public static let type: MessageType = "auth.account-status-changed"
    public static let rules = MessageRules(service: .profile, callers: [.auth], effect: .idempotent)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// `active` or `suspended`; an open set.
    @Field(.accountStatus) public var status: String
    /// When the status changed.
    public var changedAt: Timestamp
}
