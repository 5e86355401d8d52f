import JSONText

/// What questionnaires may look at of a person's profile, when a session of theirs is opened: fields that everybody may
/// see, that are not sensitive and that are chosen from a list or name a place.
@Message
public struct GetFacts: BusRequest {
    public typealias Reply = ProfileFacts
    public static let type: MessageType = "profile.get-facts"
    public static let rules = MessageRules(service: .profile, callers: [.questionnaire], effect: .read)
    /// Keys of the fields that are told.
    public static let fields: Set<String> = ["city", "state", "country", "zodiac"]

    public var personID: Identifier
    /// Keys; what is no fact is left out.
    @Field(.string(1...64), count: 1...64) public var fields: [String]
}

/// Of the fields that were asked for, those that are answered.
@Message
public struct ProfileFacts: BusReply {
    /// By key.
    @Field(count: 0...64) public var facts: [String: JSONValue]
}
