import JSONText

/// The next comparisons of the person's session. The first call opens the session.
@Message
public struct GetVisualSession: PublicRequest {
    public typealias Reply = VisualSession
    public static let type: MessageType = "visual-preference.get-session"
    public static let rules = MessageRules(
        service: .visualPreference, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/visual-preferences/session", .user, "The next comparisons of pictures.")
}

/// A person's session of comparisons.
@Message
public struct VisualSession: PublicReply {
    /// The session.
    public var sessionId: Identifier
    /// How far the person is.
    @Field(.visualStatus, example: "in_progress") public var status: String
    /// How many comparisons are answered.
    @Field(.integer(0...100), example: 5) public var answered: Int64
    /// How many comparisons there are. Unclear answers raise it once by five.
    @Field(.integer(0...100), example: 20) public var total: Int64
    /// The comparisons to show, in this order. It is empty when the session is over.
    @Field(count: 0...5) public var comparisons: [VisualComparison]
    /// When the person may begin a new session, after unclear answers.
    public var newSessionAt: Timestamp?
}

/// Two pictures to choose from.
@Message
public struct VisualComparison: MessageValue {
    /// Names the comparison in the answer.
    public var presentationId: Identifier
    /// The picture on the left.
    public var left: VisualItem
    /// The picture on the right.
    public var right: VisualItem
}

/// A picture.
@Message
public struct VisualItem: MessageValue {
    /// The picture in its set.
    @Field(.string(1...64), example: "face_01") public var id: String
    /// Where the picture is: an address, or a path at the address of the API. Its content never changes.
    @Field(.string(1...2048), example: "/visual-preferences/images/face_01-4f1c9a0b7d2e6358.svg")
    public var imageUrl: String
    /// What the picture shows, for who does not see it.
    @Field(.string(1...1000), example: "A drawn face with short dark hair and glasses.") public var alt: String
}

extension JSONSchema {
    static let visualStatus = JSONSchema.open(1...64, "not_started", "in_progress", "deferred", "ready", "insufficient")
        .named("VisualPreferenceStatus", "How well a person's visual preferences are known.")
}
