import JSONText

/// Asks where the person is in the onboarding and what comes next.
@Message
public struct ViewOnboarding: PublicRequest {
    public typealias Reply = OnboardingView
    public static let type: MessageType = "profile.view-onboarding"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/users/me/onboarding", .user, "Where the person is in the onboarding.")
}

/// The answer to ``ViewOnboarding``.
@Message
public struct OnboardingView: PublicReply {
    /// What the person has to do before matching.
    @Field(.onboardingStatus.closed)
    public var onboardingStatus: String
    /// The kind of the step that the person is at, in few words. Use `next`.
    @Field(.onboardingStep.closed, isDeprecated: true) public var onboardingStep: String
    /// Whether the person is matched.
    @Field(.matchingMode.closed) public var matchingMode: String
    /// How many people are offered while the person is matched provisionally; `null` if the operator set no limit.
    @Field(.nullable(.integer(0...1000)), example: 5) public var provisionalMaxOffers: Int64?
    /// The step to continue at; missing if nothing is left.
    public var next: NextStep?
    /// The key of the step to continue at; `null` if nothing is left. Use `next`.
    @Field(.nullable(.stepKey), isDeprecated: true, example: "questionnaire") public var resumeAt: String?
    /// The steps in order.
    @Field(count: 1...16) public var steps: [OnboardingStep]
    /// The day on which a person who is too young is old enough.
    public var eligibleOn: CivilDate?
    /// What a person who is too young is told. `GET /users/me` has the same object.
    public var ageGate: AgeGate?
    /// The plan that the person follows in the app.
    public var plan: PlanVersion?
    /// Steps that a newer version of the plan asks for from a date on. They do not keep the onboarding from being complete.
    @Field(count: 1...15) public var additions: [OnboardingStep]?
}

/// One version of an onboarding plan.
@Message
public struct PlanVersion: MessageValue {
    /// The key of the plan.
    @Field(.string(1...64), example: "yoked") public var key: String
    /// The version, which never changes for a person who follows it.
    @Field(.integer(1...2_147_483_647)) public var version: Int64
}

/// One step of the onboarding.
@Message
public struct OnboardingStep: MessageValue {
    /// The key of the step.
    @Field(.string(1...64), example: "questionnaire") public var key: String
    /// `done`, `current` or `pending`. A postponed step stays `pending`.
    @Field(.stepState, example: "pending") public var state: String
    /// What the step asks for: `account`, `fields`, `questionnaire`, `visual_preferences`, `verification`, `terms`, or
    /// `operator` for a task that the operator does.
    @Field(.stepKind, example: "questionnaire") public var kind: String?
    /// How much the step is wanted. Only required steps keep the onboarding from being complete.
    @Field(.fieldCategory) public var need: String?
    /// The path where an app reads the fields or the pictures (GET), opens a session of the questionnaire or accepts the texts
    /// (POST).
    @Field(.string(1...200), example: "/questionnaires/yoked-compat/sessions") public var href: String?
    /// The key of the questionnaire that a step of the kind `questionnaire` asks for.
    @Field(.string(1...64)) public var questionnaire: String?
    /// The texts of a step of the kind `terms`, in order.
    @Field(count: 1...8) public var terms: [TermsText]?
    /// When the step becomes past due. Only `additions` have it.
    public var dueAt: Timestamp?
    /// From when on the app asks again for a step that the person deferred.
    public var askAgainAt: Timestamp?
}

/// The step of the onboarding to continue at.
@Message
public struct NextStep: MessageValue {
    /// The key of the step.
    @Field(.string(1...64), example: "questionnaire") public var step: String
    /// What the step asks for.
    @Field(.stepKind, example: "questionnaire") public var kind: String
    /// The path where an app reads the fields or the pictures (GET), opens a session of the questionnaire or accepts the texts
    /// (POST).
    @Field(.string(1...200), example: "/questionnaires/yoked-compat/sessions") public var href: String?
    /// The key of the questionnaire that a step of the kind `questionnaire` asks for.
    @Field(.string(1...64)) public var questionnaire: String?
}

/// A text that a step asks the person to accept.
@Message
public struct TermsText: MessageValue {
    /// The key of the text.
    @Field(.string(1...64)) public var document: String
    /// The version to accept.
    @Field(.string(1...64), example: "2026-02") public var version: String
    /// The https address of the text.
    @Field(.string(1...2048)) public var url: String
    /// When the person accepted this version. It is missing until then.
    public var acceptedAt: Timestamp?
}
