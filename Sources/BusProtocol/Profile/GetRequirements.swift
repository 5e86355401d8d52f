import JSONText

/// What each capability still needs of the person.
@Message
public struct GetRequirements: PublicRequest {
    public typealias Reply = Requirements
    public static let type: MessageType = "profile.get-requirements"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/users/me/requirements", .user, "What each capability still needs.")
}

/// One entry for each thing that a person may do in the app.
@Message
public struct Requirements: PublicReply {
    /// The app itself, which no missing field closes: only a suspension does.
    public var appAccess: CapabilityNeeds
    public var browse: CapabilityNeeds
    public var like: CapabilityNeeds
    public var match: CapabilityNeeds
    public var message: CapabilityNeeds
    @Field(name: "full_confidence") public var fullConfidence: CapabilityNeeds
    /// The 18th birthday of a person who is too young.
    public var eligibleOn: CivilDate?
}

/// What one capability needs. A need is the key of a field, `questionnaire`, `visual_preferences` or `verification`.
@Message
public struct CapabilityNeeds: MessageValue {
    private static let needs = JSONSchema.array(of: .string(1...64), count: 0...64)

    /// Without these it is disabled.
    @Field(needs) public var currentlyDue: [String] = []
    /// Wanted, and no hindrance.
    @Field(needs) public var eventuallyDue: [String] = []
    /// Due since before the deadline; nothing has one yet.
    @Field(needs) public var pastDue: [String] = []
    /// Given, and still looked at.
    @Field(needs) public var pendingVerification: [String] = []
    @Field(count: 0...64) public var errors: [Fault] = []
    @Field(count: 0...16) public var alternatives: [Alternative] = []
    /// suspended, underage, requirements_due or pending_verification; null where it is enabled.
    @Field(.nullable(.string(1...64))) public var disabledReason: String?
    @Field(.nullable(.dateTime)) public var currentDeadline: Timestamp?

    /// Why what was given does not do.
    @Message
    public struct Fault: MessageValue {
        @Field(.string(1...64)) public var field: String
        /// stale: the catalogue does not take the answer any more; failed: of a verification.
        @Field(.string(1...64)) public var code: String
    }

    /// What does in place of something that is due.
    @Message
    public struct Alternative: MessageValue {
        @Field(CapabilityNeeds.needs) public var original: [String]
        @Field(CapabilityNeeds.needs) public var alternative: [String]
    }
}
