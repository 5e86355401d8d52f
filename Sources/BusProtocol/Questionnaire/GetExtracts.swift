import JSONText

/// Asks for the answers of a session's newest result that fill fields of the profile, as the definition says
/// (`extract`).
///
/// Only profile asks this. Answers are never in events. For a session that does not exist or was never completed, the
/// reply is empty.
@Message
public struct GetExtracts: BusRequest {
    public typealias Reply = ProfileExtracts
    public static let type: MessageType = "questionnaire.get-extracts"
    public static let rules = MessageRules(service: .questionnaire, callers: [.profile], effect: .read)

    /// The person.
    public var personID: Identifier
    /// The session.
    public var sessionID: Identifier
}

/// The reply to ``GetExtracts``.
@Message
public struct ProfileExtracts: BusReply {
    /// Each field once, in question order.
    @Field(count: 0...500) public var extracts: [ProfileExtract]
}

/// An answer, and the profile field that it fills.
@Message
public struct ProfileExtract: MessageValue {
    /// The field's key in the definition. Only profile knows whether such a field exists.
    @Field(.string(1...64)) public var field: String
    /// The value in the form of the question's type; a height in whole inches.
    public var value: JSONValue
}
