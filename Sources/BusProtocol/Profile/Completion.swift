import JSONText

/// Asks how complete the profile is.
@Message
public struct GetCompletion: PublicRequest {
    public typealias Reply = Completion
    public static let type: MessageType = "profile.get-completion"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/users/me/completion", .user, "How complete the profile is, and what comes next.")
}

/// Skips a field for now.
@Message
public struct SkipField: PublicRequest {
    public typealias Reply = Completion
    public static let type: MessageType = "profile.skip-field"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .validationFailed, .fieldNotSkippable, .hasValue])
    public static let route = HTTPRoute(
        .post, "/users/me/skips", .user, "Skips an optional field.")

    /// The key of the field.
    @Field(.string(1...64)) public var field: String
    /// Also skips a field that has an answer. The answer is deleted.
    public var clear: Bool?
}

/// What is answered, what is missing, and what to ask next.
@Message
public struct Completion: PublicReply {
    /// The last step that is complete.
    @Field(.integer(0...64), example: 4) public var currentStep: Int64
    /// The number of steps.
    @Field(.integer(1...64), example: 13) public var totalSteps: Int64
    /// How complete the profile is.
    @Field(.integer(0...100), example: 80) public var percentage: Int64
    /// The keys of required fields without an answer.
    @Field(.string(1...64), count: 0...64, example: "dateOfBirth") public var missingRequired: [String]
    /// The field to ask next; missing if there is none.
    public var next: NextProfileField?
    /// The key of the field to ask next; `null` if there is none. Use `next`.
    @Field(.nullable(.stepField), isDeprecated: true, example: "dateOfBirth") public var nextField: String?
    /// The step of that field. Use `next`.
    @Field(.nullable(.stepNumber), isDeprecated: true, example: 5) public var nextStep: Int64?
    /// The last field, in their order, that was answered, skipped or declined.
    @Field(.nullable(.string(1...64))) public var lastCompleted: String?
    /// What to ask the person for at the next launch.
    @Field(.nullable(Prompt.schema)) public var prompt: Prompt?
    /// The keys of skipped fields.
    @Field(.string(1...64), count: 0...64) public var skippedFields: [String]
    /// The keys of fields that the person prefers not to share.
    @Field(.string(1...64), count: 0...64) public var preferNotToShareFields: [String]
    /// Whether every required field has an answer and every encouraged one was answered, skipped or declined.
    @Field(example: false) public var isComplete: Bool
    /// When the profile became complete.
    @Field(.nullable(.dateTime)) public var completedAt: Timestamp?

    /// What to ask the person for at the next launch.
    @Message
    public struct Prompt: MessageValue {
        /// The key of the field.
        @Field(.string(1...64)) public var field: String
        /// The step of the field.
        @Field(.integer(1...64)) public var step: Int64
        /// Whether the app should wait for the answer.
        public var blocking: Bool
        /// Whether the field is required or encouraged.
        @Field(.values("required", "encouraged")) public var reason: String
    }
}

/// The field of the profile to ask next.
@Message
public struct NextProfileField: MessageValue {
    /// The key of the field.
    @Field(.string(1...64)) public var field: String
    /// The step of the field.
    @Field(.integer(1...64)) public var step: Int64
}
