import JSONText

/// A phone or an email address was verified for the first time and now has an account.
@Message
public struct AccountCreated: BusEvent {
    public static let type: MessageType = "auth.account-created"
    public static let rules = MessageRules(service: .profile, callers: [.auth], effect: .idempotent)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// When the account was created.
    public var createdAt: Timestamp
}
