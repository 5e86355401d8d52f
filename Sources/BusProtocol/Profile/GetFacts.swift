import JSONText

/// What questionnaires may look at of a person's profile, when a session of theirs is opened: fields that everybody may
/// see, that are not sensitive and that are chosen from a list or name a place.
public struct GetFacts: BusRequest {
    public typealias Reply = ProfileFacts
    public static let type: MessageType = "profile.get-facts"
    public static let schema = JSONSchema.object([
        .required("personID", .uuid),
        .required("fields", .array(of: .string(1...64), count: 1...64), "Keys; what is no fact is left out."),
    ])
    public static let rules = MessageRules(service: .profile, callers: [.questionnaire], effect: .read)

    /// Keys of the fields that are told.
    public static let fields: Set<String> = ["city", "state", "country", "zodiac"]

    public var personID: Identifier
    /// Keys of ``fields``; others are left out.
    public var fields: [String]

    public init(personID: Identifier, fields: [String]) { (self.personID, self.fields) = (personID, fields) }
}

/// Of the fields that were asked for, those that are answered.
public struct ProfileFacts: BusReply {
    public static let schema = JSONSchema.object([.required("facts", .map(of: .any, count: 0...64))])

    /// By key.
    public var facts: [String: JSONValue]

    public init(facts: [String: JSONValue]) { self.facts = facts }
}
