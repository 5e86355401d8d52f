import JSONText

/// Sets the onboarding of people who are here already to complete, so that they skip it
/// (`vestibule account backfill --complete`). Whose it was set before is left as they are.
@Message
public struct BackfillOnboarding: BusRequest {
    public typealias Reply = OnboardingBackfilled
    /// People of one request.
    public static let most = 1000
    public static let type: MessageType = "profile.backfill-onboarding"
    public static let rules = MessageRules(service: .profile, callers: [.operator], effect: .once)

    @Field(count: 1...most) public var userIDs: [Identifier]
}

/// The answer to ``BackfillOnboarding``: each person of the request is counted once.
@Message
public struct OnboardingBackfilled: BusReply {
    @Field(.integer(0...Int64(BackfillOnboarding.most))) public var done: Int64
    /// Set before.
    @Field(.integer(0...Int64(BackfillOnboarding.most))) public var already: Int64
    /// Nobody here has this id.
    @Field(count: 0...BackfillOnboarding.most) public var unknown: [Identifier]
}
