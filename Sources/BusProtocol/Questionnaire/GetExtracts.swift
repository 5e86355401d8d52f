import JSONText

/// What the newest result of a session says of fields of the profile, where its definition says so (`extract`).
///
/// Handled by QuestionnaireService, for profile: answers never travel in events. Of a session that there is not, or that was
/// never completed, nothing is said.
@Message
public struct GetExtracts: BusRequest {
    public typealias Reply = ProfileExtracts
    public static let type: MessageType = "questionnaire.get-extracts"
    public static let rules = MessageRules(service: .questionnaire, callers: [.profile], effect: .read)

    public var personID: Identifier
    public var sessionID: Identifier
}

/// The answer to ``GetExtracts``, in question order.
@Message
public struct ProfileExtracts: BusReply {
    /// Each field once, in question order.
    @Field(count: 0...500) public var extracts: [ProfileExtract]
}

/// An answer, and the field of the profile that it stands for.
@Message
public struct ProfileExtract: MessageValue {
    /// As the definition names it; whether there is such a one profile knows.
    @Field(.string(1...64)) public var field: String
    /// In the form of the question's type; a height in whole inches.
    public var value: JSONValue
}
