import JSONText

/// A person's visual preferences are known well enough for matching (`visual_preference_profiles.status` is `ready`).
@Message
public struct VisualPreferencesReady: BusEvent {
    public static let type: MessageType = "visual-preference.profile-ready"
    public static let rules = ExternalService.rules(of: .visualPreference)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// When they were known well enough.
    public var at: Timestamp
}

/// A person postponed the capture of visual preferences. Until then the person is matched provisionally.
@Message
public struct VisualPreferencesDeferred: BusEvent {
    public static let type: MessageType = "visual-preference.capture-deferred"
    public static let rules = ExternalService.rules(of: .visualPreference)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// When the person postponed it.
    public var at: Timestamp
}

/// A person's photo or document was verified or refused, or the person declined that. The newest decision counts, but a
/// verified photo stays verified when the person declines.
@Message
public struct VerificationDecided: BusEvent {
    public static let type: MessageType = "verification.decided"
    public static let rules = ExternalService.rules(of: .verification)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// `photo` or `id`. Other values have no effect.
    @Field(.string(1...32)) public var level: String
    /// `verified`, `failed`, `in_review` or `declined`. Other values have no effect.
    @Field(.string(1...32)) public var outcome: String
    /// When it was decided.
    public var at: Timestamp
}

private enum ExternalService {
    static func rules(of producer: ServiceName) -> MessageRules {
        MessageRules(service: .profile, callers: [producer], effect: .idempotent, delivery: .untilTaken)
    }
}
