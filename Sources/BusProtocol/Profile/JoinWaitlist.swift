import JSONText

/// Asks to be told on the 18th birthday, or not to be any more (`POST /users/me/waitlist`).
public struct JoinWaitlist: BusRequest {
    public typealias Reply = WaitlistPlace
    public static let type: MessageType = "profile.join-waitlist"
    public static let schema = JSONSchema.object([.required("notify", .boolean)])
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .dateOfBirthMissing, .alreadyEligible])
    public var notify: Bool
    public init(notify: Bool) { self.notify = notify }
}

/// The answer to ``JoinWaitlist``.
public struct WaitlistPlace: PublicReply {
    public static let schema = JSONSchema.object([.required("eligibleOn", .date, "The 18th birthday")])
    public var eligibleOn: CivilDate
    public init(eligibleOn: CivilDate) { self.eligibleOn = eligibleOn }
}
