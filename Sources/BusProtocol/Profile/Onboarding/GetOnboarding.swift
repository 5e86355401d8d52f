import JSONText

/// Auth asks for the onboarding status at sign-in. Profile creates the person's row if there is none.
@Message
public struct GetOnboarding: BusRequest {
    public typealias Reply = OnboardingState
    public static let type: MessageType = "profile.get-onboarding"
    public static let rules = MessageRules(
        service: .profile, callers: [.auth], effect: .idempotent, errors: [.appUnknown])

    /// The person.
    public var personID: Identifier
    /// The publishable key of the app; absent for the default app.
    @Field(.string(1...64)) public var app: String?
    /// How the person came to the app. It is stored when the person begins with the app's plan.
    @Field(.string(1...64)) public var entry: String?
}

/// How far a person's onboarding is.
@Message
public struct OnboardingState: BusReply {
    /// One of the five values of the public API; an open set here.
    @Field(.string(1...32)) public var onboardingStatus: String
}
