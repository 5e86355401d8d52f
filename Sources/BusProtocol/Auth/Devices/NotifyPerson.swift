import JSONText

/// Tells a person something on every device that auth knows; once per `notificationID`.
@Message
public struct NotifyPerson: BusEvent {
    public static let type: MessageType = "auth.notify-person"
    public static let rules = MessageRules(
        service: .auth, callers: [.profile, .recovery], effect: .idempotent, delivery: .untilTaken)

    public var notificationID: Identifier
    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// Decides the text: `recovery_requested`, `recovery_disputed`; an unknown one is sent with a general text.
    @Field(.string(1...64)) public var kind: String
    /// Goes out as the push's `data`, with `kind` in it; it may carry a secret (`disputeToken`) and is sealed at rest.
    @Field(.string(0...1024), count: 0...16) public var data: [String: String]
    /// Has the text go to the account's number too, unless that is one of these: auth's references of claimants' numbers.
    /// Missing: no SMS.
    @Field(.string(1...128), count: 0...16) public var smsUnlessHeldBy: [String]?
}
