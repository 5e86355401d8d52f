import JSONText

/// Where the person stands and what comes next (`GET /users/me/onboarding`).
public struct ViewOnboarding: BusRequest {
    public typealias Reply = OnboardingView
    public static let type: MessageType = "profile.view-onboarding"
    public static let schema = JSONSchema.object([])
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public init() {}
}

/// The answer to ``ViewOnboarding``.
public struct OnboardingView: PublicReply {
    public static let schema = JSONSchema.object([
        .required(
            "onboardingStatus",
            .values("questionnaire_pending", "vps_pending", "verification_pending", "complete", "blocked")),
        .required("onboardingStep", .values("profile", "questionnaire", "verification", "complete")),
        .required("matchingMode", .values("none", "provisional", "full-confidence")),
        .optional("provisionalMaxOffers", .nullable(.integer(0...1000))),
        .optional("resumeAt", .nullable(.string(1...64)), "The step to go on at; null when nothing is left"),
        .required("steps", .array(of: OnboardingStep.schema, count: 1...16)),
        .optional("eligibleOn", .date, "The 18th birthday of a person who is too young"),
    ])
    public var onboardingStatus: String
    public var onboardingStep: String
    public var matchingMode: String
    public var provisionalMaxOffers: Int64?
    public var resumeAt: String?
    public var steps: [OnboardingStep]
    public var eligibleOn: CivilDate?

    public init(
        onboardingStatus: String, onboardingStep: String, matchingMode: String, provisionalMaxOffers: Int64?,
        resumeAt: String?, steps: [OnboardingStep], eligibleOn: CivilDate?
    ) {
        self.onboardingStatus = onboardingStatus
        self.onboardingStep = onboardingStep
        self.matchingMode = matchingMode
        self.provisionalMaxOffers = provisionalMaxOffers
        self.resumeAt = resumeAt
        self.steps = steps
        self.eligibleOn = eligibleOn
    }
}

/// One step of the way in.
public struct OnboardingStep: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("key", .string(1...64)), .required("state", .values("done", "current", "pending")),
    ])
    public var key: String
    public var state: String
    public init(key: String, state: String) { (self.key, self.state) = (key, state) }
}
