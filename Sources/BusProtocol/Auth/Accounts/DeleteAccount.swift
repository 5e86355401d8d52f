import JSONText

/// Deletes the person's account; sent again, it is answered as the first time.
///
/// The account, its phone, devices and sessions are gone with the answer, and the tokens stop; the other services erase what
/// they hold as soon as they hear of it.
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

/// What becomes of a deleted account.
@Message
public struct AccountDeletion: PublicReply {
    /// deleting: finished in every service that runs within 60 seconds.
    @Field(.string(1...32)) public var status: String
}

/// An account is gone: whoever holds something about the person erases it, and takes nothing more in.
@Message
public struct AccountDeleted: BusEvent {
    public static let type: MessageType = "auth.account-deleted"
    public static let rules = MessageRules(
        service: .profile, alsoTold: [.questionnaire, .recovery], callers: [.auth], effect: .idempotent,
        delivery: .untilTaken)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    public var deletedAt: Timestamp
}
