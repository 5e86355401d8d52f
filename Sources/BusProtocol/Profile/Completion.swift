import JSONText

/// How far the profile is.
@Message
public struct GetCompletion: PublicRequest {
    public typealias Reply = Completion
    public static let type: MessageType = "profile.get-completion"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/users/me/completion", .user, "How far the profile is, and what comes next.")
}

/// Leaves a field out for now.
@Message
public struct SkipField: PublicRequest {
    public typealias Reply = Completion
    public static let type: MessageType = "profile.skip-field"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .validationFailed, .fieldNotSkippable, .hasValue])
    public static let route = HTTPRoute(
        .post, "/users/me/skips", .user, "Skips an optional field.")

    @Field(.string(1...64)) public var field: String
    /// Skips a field that has an answer too; the answer is lost.
    public var clear: Bool?
}

/// What is there, what is missing, and what to ask next.
@Message
public struct Completion: PublicReply {
    /// The last step that is complete.
    @Field(.integer(0...64)) public var currentStep: Int64
    @Field(.integer(1...64)) public var totalSteps: Int64
    @Field(.integer(0...100)) public var percentage: Int64
    @Field(.string(1...64), count: 0...64) public var missingRequired: [String]
    @Field(.nullable(.string(1...64))) public var nextField: String?
    @Field(.nullable(.integer(1...64))) public var nextStep: Int64?
    /// The field furthest along that something was said of.
    @Field(.nullable(.string(1...64))) public var lastCompleted: String?
    @Field(.nullable(Prompt.schema)) public var prompt: Prompt?
    @Field(.string(1...64), count: 0...64) public var skippedFields: [String]
    @Field(.string(1...64), count: 0...64) public var preferNotToShareFields: [String]
    public var isComplete: Bool
    @Field(.nullable(.dateTime)) public var completedAt: Timestamp?

    /// What to ask the person for at the next launch.
    @Message
    public struct Prompt: MessageValue {
        @Field(.string(1...64)) public var field: String
        @Field(.integer(1...64)) public var step: Int64
        public var blocking: Bool
        @Field(.values("required", "encouraged")) public var reason: String
    }
}
