import JSONText

/// A person as others see them.
@Message
public struct GetPerson: PublicRequest {
    public typealias Reply = PublicPerson
    public static let type: MessageType = "profile.get-person"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read, errors: [.unauthorized, .notFound])
    public static let route = HTTPRoute(
        .get, "/users/{id}", .user, "The public view of a person.")

    @Field(from: .path("id")) public var personId: Identifier
}

/// What others see of a person: nothing in it follows from a private field, so it has no revision and no time of change.
@Message
public struct PublicPerson: PublicReply {
    public var id: Identifier
    /// The public fields that are set; "Prefers not to share" where the person said so.
    @Field(count: 0...64) public var profile: [String: JSONValue]
    @Field(.nullable(.integer(0...150))) public var age: Int64?
    /// photo_verified, id_verified.
    @Field(.string(1...64), count: 0...16) public var badges: [String]
}
