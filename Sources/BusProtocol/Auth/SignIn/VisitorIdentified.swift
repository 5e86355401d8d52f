import JSONText

/// The visitor whom a client named before the sign-in is this person.
@Message
public struct VisitorIdentified: BusEvent {
    public static let type: MessageType = "auth.visitor-identified"
    public static let rules = MessageRules(service: .profile, callers: [.auth], effect: .idempotent)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// The client's own name for the visitor.
    @Field(.string(1...64)) public var anonymousID: String
}
