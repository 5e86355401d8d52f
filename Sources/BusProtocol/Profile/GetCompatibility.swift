import JSONText

/// Asks how well the person matches another one.
@Message
public struct GetCompatibility: PublicRequest {
    public typealias Reply = Compatibility
    public static let type: MessageType = "profile.get-compatibility"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .forbidden, .notFound, .rateLimited])
    public static let route = HTTPRoute(
        .get, "/compatibility/with/{userId}", .user, "How well the person matches another one.")

    /// The other person.
    @Field(from: .path("userId")) public var userId: Identifier
}

/// How well two people match.
///
/// Exact figures that follow each change of an answer would give the other person's answers away.
@Message
public struct Compatibility: PublicReply {
    /// The mean of the dimensions, in steps of 5. Missing if nothing can be compared.
    @Field(.integer(0...100), example: 75) public var score: Int64?
    /// What was compared.
    @Field(count: 0...16) public var dimensions: [CompatibilityDimension]
    /// How much of what could be compared was compared, in per cent, in steps of 5.
    @Field(.integer(0...100), example: 65) public var confidence: Int64
}

/// How well two people match in one respect.
@Message
public struct CompatibilityDimension: MessageValue {
    /// `psychological`: how alike they think and live. `physical`: how well each is what the other wishes, and how
    /// alike their tastes are. `affinity`: how well each suits
    /// what the other wants.
    @Field(.open(1...64, "psychological", "physical", "affinity"))
    public var key: String
    /// In steps of 5.
    @Field(.integer(0...100), example: 80) public var score: Int64
}
