import JSONText

/// A person as others see them (`GET /users/{id}`).
public struct GetPerson: BusRequest {
    public typealias Reply = PublicPerson
    public static let type: MessageType = "profile.get-person"
    public static let schema = JSONSchema.object([.required("personId", .uuid)])
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read, errors: [.unauthorized, .notFound])
    public var personId: Identifier
    public init(personId: Identifier) { self.personId = personId }
}

/// What others see of a person: nothing in it follows from a private field, so it has no revision and no time of change.
public struct PublicPerson: PublicReply {
    public static let schema = JSONSchema.object([
        .required("id", .uuid),
        .required(
            "profile", .map(of: .any, count: 0...64),
            "The public fields that are set; \"Prefers not to share\" where the person said so"),
        .optional("age", .nullable(.integer(0...150))),
        .required("badges", .array(of: .string(1...64), count: 0...16), "photo_verified, id_verified"),
    ])
    public var id: Identifier
    public var profile: [String: JSONValue]
    public var age: Int64?
    public var badges: [String]

    public init(id: Identifier, profile: [String: JSONValue], age: Int64?, badges: [String]) {
        (self.id, self.profile, self.age, self.badges) = (id, profile, age, badges)
    }
}
