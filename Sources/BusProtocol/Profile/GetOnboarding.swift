import JSONText

/// Auth's question at sign-in; the profile row is made when there is none.
public struct GetOnboarding: BusRequest {
    public typealias Reply = OnboardingState
    public static let type: MessageType = "profile.get-onboarding"
    public static let schema = JSONSchema.object([.required("personID", .uuid)])
    public static let rules = MessageRules(service: .profile, callers: [.auth], effect: .idempotent)
    public var personID: Identifier
    public init(personID: Identifier) { self.personID = personID }
}

/// Where a person stands.
public struct OnboardingState: BusReply {
    public static let schema = JSONSchema.object([.required("onboardingStatus", .string(1...32))])
    /// One of the five values of the public API; an open set here.
    public var onboardingStatus: String
    public init(onboardingStatus: String) { self.onboardingStatus = onboardingStatus }
}
