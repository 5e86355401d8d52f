import JSONText

/// Deletes the person's account. A repetition gets the same reply.
///
/// Once auth replies, the account, its phone, devices and sessions are deleted and its tokens are refused. The other
/// services erase their data when they receive ``AccountDeleted``.
@Message
public struct DeleteAccount: PublicRequest {
    public typealias Reply = AccountDeletion
    public static let type: MessageType = "auth.delete-account"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .reauthenticationRequired, .accountFrozen])
    public static let route = HTTPRoute(
        .delete, "/users/me", .user, "Deletes the account.", success: 202, carriesToken: true)
}

/// The state of a deletion.
@Message
public struct AccountDeletion: PublicReply {
    /// `deleting`: every running service has finished within 60 seconds.
    @Field(.open("deleting")) public var status: String
}

/// An account was deleted. Each service that holds data about the person erases it and accepts no more.
@Message
public struct AccountDeleted: BusEvent {
    public static let type: MessageType = "auth.account-deleted"
    public static let rules = MessageRules(
        service: .profile, alsoTold: ServiceName.services.filter { $0 != .auth && $0 != .profile }, callers: [.auth],
        effect: .idempotent, delivery: .untilTaken)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// When the account was deleted.
    public var deletedAt: Timestamp
}
