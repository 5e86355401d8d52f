import JSONText

/// Asks for answers that fill fields of the profile, as the definition says (`extract`): those of a session's newest
/// result, or the present ones.
///
/// Only profile asks this. Answers are never in events. For a session that does not exist or was stopped, and for the
/// result of one that was never completed, the reply is empty.
@Message
public struct GetExtracts: BusRequest {
    public typealias Reply = ProfileExtracts
    public static let type: MessageType = "questionnaire.get-extracts"
    public static let rules = MessageRules(service: .questionnaire, callers: [.profile], effect: .read)

    /// The person.
    public var personID: Identifier
    /// The session.
    public var sessionID: Identifier
    /// The key of the questionnaire. With it, the present answers are asked for instead of the result.
    @Field(.string(1...64)) public var questionnaire: String?
    /// The fields whose present answers are asked for.
    @Field(.string(1...64), count: 1...500) public var fields: [String]?
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
    /// The value in the form of the question's type; a height in whole inches. Among present answers,
    /// `prefer_not_to_say` stands for an answer that was declined, and null for one that was withdrawn.
    public var value: JSONValue
}
