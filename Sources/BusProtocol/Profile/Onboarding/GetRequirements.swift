import JSONText

/// Asks what each capability still needs from the person.
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
    /// Use of the app itself. A missing field never disables it; a suspension does.
    public var appAccess: CapabilityNeeds
    /// Looking at other people.
    public var browse: CapabilityNeeds
    /// Liking other people.
    public var like: CapabilityNeeds
    /// Matching with other people.
    public var match: CapabilityNeeds
    /// Writing to other people.
    public var message: CapabilityNeeds
    /// Matching with full confidence instead of provisionally.
    public var fullConfidence: CapabilityNeeds?
    /// The same as `fullConfidence`, which is the name to use.
    @Field(name: "full_confidence", isDeprecated: true) public var formerFullConfidence: CapabilityNeeds
    /// The day on which a person who is too young is old enough.
    public var eligibleOn: CivilDate?
    /// What a person who is too young is told. `GET /users/me` has the same object.
    public var ageGate: AgeGate?
}

/// What one capability needs. A need is the key of a field, `questionnaire`, `visual_preferences` or `verification`.
@Message
public struct CapabilityNeeds: MessageValue {
    private static let needs = JSONSchema.array(of: .string(1...64), count: 0...64)

    /// The capability is disabled until these are there.
    @Field(needs, example: "dateOfBirth") public var currentlyDue: [String] = []
    /// These are wanted but not necessary.
    @Field(needs, example: "bio") public var eventuallyDue: [String] = []
    /// A newer version of the plan asks for these, and their date has come. They disable nothing.
    @Field(needs, example: "dateOfBirth") public var pastDue: [String] = []
    /// These were given and are still being verified.
    @Field(needs, example: "verification") public var pendingVerification: [String] = []
    /// Why given values are not accepted.
    @Field(count: 0...64) public var errors: [Fault] = []
    /// What may replace something that is due.
    @Field(count: 0...16) public var alternatives: [Alternative] = []
    /// `suspended`, `underage`, `requirements_due`, `pending_verification`, `verification_declined` or `not_offered`;
    /// `null` if the capability is enabled. A plan need not offer every capability.
    @Field(.nullable(.disabledReason)) public var disabledReason: String?
    /// When the first of `futureRequirements` becomes past due.
    @Field(.nullable(.dateTime)) public var currentDeadline: Timestamp?
    /// A newer version of the plan asks for these from a date on. Until then, nothing needs them.
    @Field(count: 1...64) public var futureRequirements: [FutureRequirement]?

    /// Why a given value is not accepted.
    @Message
    public struct Fault: MessageValue {
        /// The need that the value was given for.
        @Field(.string(1...64)) public var field: String
        /// `stale`: the catalogue no longer accepts the answer. `failed`: the verification failed.
        @Field(.open(1...64, "stale", "failed")) public var code: String
    }

    /// What may replace something that is due.
    @Message
    public struct Alternative: MessageValue {
        /// The needs that may be replaced.
        @Field(CapabilityNeeds.needs, example: "visual_preferences") public var original: [String]
        /// The needs that replace them.
        @Field(CapabilityNeeds.needs, example: "verification") public var alternative: [String]
    }
}

/// A step or field that a newer version of the plan asks for from a date on.
@Message
public struct FutureRequirement: MessageValue {
    /// The key of the step or field.
    @Field(.string(1...64)) public var key: String
    /// When it becomes past due.
    public var dueAt: Timestamp
}
