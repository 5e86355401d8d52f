import JSONText

/// Notifies a person on every device that auth knows, once per `notificationID`.
@Message
public struct NotifyPerson: BusEvent {
    public static let type: MessageType = "auth.notify-person"
    public static let rules = MessageRules(
        service: .auth, callers: [.profile, .recovery, .verification], effect: .idempotent, delivery: .untilTaken)

    /// Identifies the notification.
    public var notificationID: Identifier
    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// Selects the text: `recovery_requested`, `recovery_disputed`. An unknown kind gets a general text.
    @Field(.string(1...64)) public var kind: String
    /// The `data` of the push, which also has `kind`. It may hold a secret (`disputeToken`), so it is encrypted at
    /// rest.
    @Field(.string(0...1024), count: 0...16) public var data: [String: String]
    /// Also sends the text to the account's number by SMS, or to its email address if it has no number. It is not sent to
    /// one of these: auth's references of claimants' numbers and addresses. Missing: neither.
    @Field(.string(1...128), count: 0...16) public var smsUnlessHeldBy: [String]?
}
