import JSONText

/// Tells a person something on every device that auth knows; once per `notificationID`.
public struct NotifyPerson: BusEvent {
    public static let type: MessageType = "auth.notify-person"
    public static let schema = JSONSchema.object([
        .required("notificationID", .uuid), .required("personID", .uuid),
        .required("personSequence", .integer(0...9_007_199_254_740_991)), .required("kind", .string(1...64)),
        .required("data", .map(of: .string(0...1024), count: 0...16)),
        .optional("smsUnlessHeldBy", .array(of: .string(1...128), count: 0...16)),
    ])
    public static let rules = MessageRules(service: .auth, callers: [.profile, .recovery], effect: .idempotent)

    public var notificationID: Identifier
    public var personID: Identifier
    public var personSequence: Int64
    /// Decides the text: `recovery_requested`, `recovery_disputed`; an unknown one is sent with a general text.
    public var kind: String
    /// Goes out as the push's `data`, with `kind` in it; it may carry a secret (`disputeToken`) and is sealed at rest.
    public var data: [String: String]
    /// Has the text go to the account's number too, unless that is one of these: auth's references of claimants' numbers.
    /// `nil`: no SMS.
    public var smsUnlessHeldBy: [String]?

    public init(
        notificationID: Identifier, personID: Identifier, personSequence: Int64 = 0, kind: String,
        data: [String: String], smsUnlessHeldBy: [String]? = nil
    ) {
        self.notificationID = notificationID
        self.personID = personID
        self.personSequence = personSequence
        self.kind = kind
        self.data = data
        self.smsUnlessHeldBy = smsUnlessHeldBy
    }
}
