import JSONText

/// Sets the onboarding of people who are here already to complete, so that they skip it
/// (`vestibule account backfill --complete`). Whose it was set before is left as they are.
public struct BackfillOnboarding: BusRequest {
    public typealias Reply = OnboardingBackfilled
    /// People of one request.
    public static let most = 1000
    public static let type: MessageType = "profile.backfill-onboarding"
    public static let schema = JSONSchema.object([.required("userIDs", .array(of: .uuid, count: 1...most))])
    public static let rules = MessageRules(service: .profile, callers: [.operator], effect: .once)

    public var userIDs: [Identifier]
    public init(userIDs: [Identifier]) { self.userIDs = userIDs }
}

/// The answer to ``BackfillOnboarding``: each person of the request is counted once.
public struct OnboardingBackfilled: BusReply {
    public static let schema = JSONSchema.object([
        .required("done", .integer(0...Int64(BackfillOnboarding.most))),
        .required("already", .integer(0...Int64(BackfillOnboarding.most)), "Set before"),
        .required("unknown", .array(of: .uuid, count: 0...BackfillOnboarding.most), "Nobody here has this id"),
    ])
    public var done: Int64
    public var already: Int64
    public var unknown: [Identifier]
    public init(done: Int64, already: Int64, unknown: [Identifier]) {
        (self.done, self.already, self.unknown) = (done, already, unknown)
    }
}
