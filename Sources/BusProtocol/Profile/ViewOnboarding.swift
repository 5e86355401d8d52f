import JSONText

/// Where the person stands and what comes next.
@Message
public struct ViewOnboarding: PublicRequest {
    public typealias Reply = OnboardingView
    public static let type: MessageType = "profile.view-onboarding"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/users/me/onboarding", .user, "Where the person stands in the onboarding.")
}

/// The answer to ``ViewOnboarding``.
@Message
public struct OnboardingView: PublicReply {
    @Field(.values("questionnaire_pending", "vps_pending", "verification_pending", "complete", "blocked"))
    public var onboardingStatus: String
    @Field(.values("profile", "questionnaire", "verification", "complete")) public var onboardingStep: String
    @Field(.values("none", "provisional", "full-confidence")) public var matchingMode: String
    @Field(.nullable(.integer(0...1000))) public var provisionalMaxOffers: Int64?
    /// The step to go on at; null when nothing is left.
    @Field(.nullable(.string(1...64))) public var resumeAt: String?
    @Field(count: 1...16) public var steps: [OnboardingStep]
    /// The 18th birthday of a person who is too young.
    public var eligibleOn: CivilDate?
}

/// One step of the way in.
@Message
public struct OnboardingStep: MessageValue {
    @Field(.string(1...64)) public var key: String
    @Field(.values("done", "current", "pending")) public var state: String
}
