import JSONText

/// Takes an account out of use, for staff: its sessions end, it cannot be signed in to, and
/// others do not see the person. An account that is suspended already stays as it is.
///
/// The access token of who decides goes along; auth holds it against its own rows.
@Message
public struct SuspendAccount: PublicRequest {
    public typealias Reply = AccountStanding
    public static let type: MessageType = "auth.suspend-account"
    public static let rules = AccountStanding.rules
    public static let route = HTTPRoute(
        .post, "/admin/users/{id}/suspend", .staff, "Suspends an account and ends its sessions.", carriesToken: true)

    @Field(from: .path("id")) public var personId: Identifier
    /// Why; kept sealed with the account.
    @Field(.string(1...1000)) public var note: String
}

/// Gives a suspended account back to its person, for staff. The sessions that ended stay
/// ended.
@Message
public struct RestoreAccount: PublicRequest {
    public typealias Reply = AccountStanding
    public static let type: MessageType = "auth.restore-account"
    public static let rules = AccountStanding.rules
    public static let route = HTTPRoute(
        .post, "/admin/users/{id}/restore", .staff, "Restores a suspended account.", carriesToken: true)

    @Field(from: .path("id")) public var personId: Identifier
    /// Why; kept sealed with the account.
    @Field(.string(1...1000)) public var note: String
}

/// Suspends an account or restores it for an operator, whose name stands in the account's trail (`vestibule account suspend`).
@Message
public struct ChangeStandingAsOperator: BusRequest {
    public typealias Reply = AccountStanding
    public static let type: MessageType = "auth.change-standing-as-operator"
    public static let rules = MessageRules(
        service: .auth, callers: [.operator], effect: .once, errors: [.forbidden, .notFound])

    public var personId: Identifier
    public var isSuspended: Bool
    /// Why; kept sealed with the account.
    @Field(.string(1...1000)) public var note: String
    /// Who does it, for the trail.
    @Field(.visibleASCII(1...64)) public var operatorName: String
}

/// How an account stands.
@Message
public struct AccountStanding: PublicReply {
    static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once, errors: [.unauthorized, .forbidden, .notFound])

    public var personId: Identifier
    /// active or suspended.
    @Field(.string(1...32)) public var status: String
}

/// An account was suspended or restored.
@Message
public struct AccountStatusChanged: BusEvent {
    public static let type: MessageType = "auth.account-status-changed"
    public static let rules = MessageRules(service: .profile, callers: [.auth], effect: .idempotent)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// `active` or `suspended`; an open set.
    @Field(.string(1...32)) public var status: String
    public var changedAt: Timestamp
}
