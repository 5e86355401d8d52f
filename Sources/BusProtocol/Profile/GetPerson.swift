import JSONText

/// Asks for a person's public profile.
@Message
public struct GetPerson: PublicRequest {
    public typealias Reply = PublicPerson
    public static let type: MessageType = "profile.get-person"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read, errors: [.unauthorized, .notFound])
    public static let route = HTTPRoute(
        .get, "/users/{id}", .user, "The public view of a person.")

    /// The person.
    @Field(from: .path("id")) public var personId: Identifier
}

/// A person as others see them.
///
/// Nothing in it depends on a private field, so it has no revision and no time of change.
@Message
public struct PublicPerson: PublicReply {
    /// The person.
    public var id: Identifier
    /// The public fields that are set; "Prefers not to share" if the person said so.
    @Field(count: 0...64) public var profile: [String: JSONValue]
    /// The age in years.
    @Field(.nullable(.integer(0...150))) public var age: Int64?
    /// `photo_verified` and `id_verified`.
    @Field(.string(1...64), count: 0...16, example: "photo_verified") public var badges: [String]
}
