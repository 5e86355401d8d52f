import JSONText

/// Sets the onboarding of existing people to complete, so that they skip it (`vestibule account backfill --complete`).
///
/// People whose onboarding was set before stay as they are.
@Message
public struct BackfillOnboarding: BusRequest {
    public typealias Reply = OnboardingBackfilled
    /// The most people of one request.
    public static let most = 1000
    public static let type: MessageType = "profile.backfill-onboarding"
    public static let rules = MessageRules(service: .profile, callers: [.operator], effect: .once)

    /// The people.
    @Field(count: 1...most) public var userIDs: [Identifier]
}

/// The reply to ``BackfillOnboarding``. It counts each person of the request once.
@Message
public struct OnboardingBackfilled: BusReply {
    /// People whose onboarding was set by this request.
    @Field(.integer(0...Int64(BackfillOnboarding.most))) public var done: Int64
    /// People whose onboarding was set before.
    @Field(.integer(0...Int64(BackfillOnboarding.most))) public var already: Int64
    /// IDs that belong to nobody here.
    @Field(count: 0...BackfillOnboarding.most) public var unknown: [Identifier]
}
