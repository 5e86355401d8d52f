import JSONText

/// Auth's question at sign-in; the profile row is made when there is none.
@Message
public struct GetOnboarding: BusRequest {
    public typealias Reply = OnboardingState
    public static let type: MessageType = "profile.get-onboarding"
    public static let rules = MessageRules(service: .profile, callers: [.auth], effect: .idempotent)

    public var personID: Identifier
}

/// Where a person stands.
@Message
public struct OnboardingState: BusReply {
    /// One of the five values of the public API; an open set here.
    @Field(.string(1...32)) public var onboardingStatus: String
}
