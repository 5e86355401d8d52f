import JSONText

/// Deletes the person's account (`DELETE /users/me`); sent again, it is answered as the first time.
///
/// The account, its phone, devices and sessions are gone with the answer, and the tokens stop; the other services erase what
/// they hold as soon as they hear of it.
public struct DeleteAccount: BusRequest {
    public typealias Reply = AccountDeletion
    public static let type: MessageType = "auth.delete-account"
    public static let schema = JSONSchema.object([])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .reauthenticationRequired, .accountFrozen])
    public init() {}
}

/// What becomes of a deleted account.
public struct AccountDeletion: PublicReply {
    public static let schema = JSONSchema.object([
        .required("status", .string(1...32), "deleting: finished in every service that runs within 60 seconds")
    ])
    public var status: String
    public init(status: String) { self.status = status }
}

/// An account is gone: whoever holds something about the person erases it, and takes nothing more in.
public struct AccountDeleted: BusEvent {
    public static let type: MessageType = "auth.account-deleted"
    public static let schema = JSONSchema.object([
        .required("personID", .uuid), .required("personSequence", .integer(0...9_007_199_254_740_991)),
        .required("deletedAt", .dateTime),
    ])
    public static let rules = MessageRules(
        service: .profile, alsoTold: [.questionnaire, .recovery], callers: [.auth], effect: .idempotent)

    public var personID: Identifier
    public var personSequence: Int64
    public var deletedAt: Timestamp

    public init(personID: Identifier, personSequence: Int64 = 0, deletedAt: Timestamp) {
        self.personID = personID
        self.personSequence = personSequence
        self.deletedAt = deletedAt
    }
}
