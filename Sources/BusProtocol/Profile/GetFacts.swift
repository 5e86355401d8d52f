import JSONText

/// Asks for the profile fields that a questionnaire's conditions may use, when a session is opened.
///
/// These fields are public and not sensitive, and are chosen from a list or name a place.
@Message
public struct GetFacts: BusRequest {
    public typealias Reply = ProfileFacts
    public static let type: MessageType = "profile.get-facts"
    public static let rules = MessageRules(service: .profile, callers: [.questionnaire], effect: .read)
    /// The keys of the fields that may be asked for.
    public static let fields: Set<String> = ["city", "state", "country", "zodiac"]

    /// The person.
    public var personID: Identifier
    /// Keys of fields. Keys that may not be asked for are ignored.
    @Field(.string(1...64), count: 1...64) public var fields: [String]
}

/// The answered fields among those that were asked for.
@Message
public struct ProfileFacts: BusReply {
    /// The values by key.
    @Field(count: 0...64) public var facts: [String: JSONValue]
}
