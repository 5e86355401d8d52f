import JSONText

/// Asks to be told on the 18th birthday, or not to be any more.
@Message
public struct JoinWaitlist: PublicRequest {
    public typealias Reply = WaitlistPlace
    public static let type: MessageType = "profile.join-waitlist"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .dateOfBirthMissing, .alreadyEligible])
    public static let route = HTTPRoute(
        .post, "/users/me/waitlist", .user, "Asks to be told on the 18th birthday.")

    public var notify: Bool
}

/// The answer to ``JoinWaitlist``.
@Message
public struct WaitlistPlace: PublicReply {
    /// The 18th birthday.
    public var eligibleOn: CivilDate
}
