import JSONText

/// A person who is too young asks to be notified once they reach the minimum age of the plan, or withdraws that.
@Message
public struct JoinWaitlist: PublicRequest {
    public typealias Reply = WaitlistPlace
    public static let type: MessageType = "profile.join-waitlist"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .dateOfBirthMissing, .alreadyEligible])
    public static let route = HTTPRoute(
        .post, "/users/me/waitlist", .user, "Asks for a notification at the minimum age of the plan.")

    /// False to withdraw.
    public var notify: Bool
}

/// The answer to ``JoinWaitlist``.
@Message
public struct WaitlistPlace: PublicReply {
    /// The day on which the person is old enough.
    public var eligibleOn: CivilDate
}
