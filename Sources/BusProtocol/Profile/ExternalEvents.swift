import JSONText

/// The visual preferences of a person are known well enough to match by (`visual_preference_profiles.status` is `ready`).
@Message
public struct VisualPreferencesReady: BusEvent {
    public static let type: MessageType = "visual-preference.profile-ready"
    public static let rules = ExternalService.rules(of: .visualPreference)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    public var at: Timestamp
}

/// A person put the capture of visual preferences off, and is matched provisionally until then.
@Message
public struct VisualPreferencesDeferred: BusEvent {
    public static let type: MessageType = "visual-preference.capture-deferred"
    public static let rules = ExternalService.rules(of: .visualPreference)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    public var at: Timestamp
}

/// What came of a person's photo or document; the last word counts.
@Message
public struct VerificationDecided: BusEvent {
    public static let type: MessageType = "verification.decided"
    public static let rules = ExternalService.rules(of: .verification)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// photo or id; of another one nothing follows.
    @Field(.string(1...32)) public var level: String
    /// verified, failed or in_review; of another one nothing follows.
    @Field(.string(1...32)) public var outcome: String
    public var at: Timestamp
}

private enum ExternalService {
    static func rules(of producer: ServiceName) -> MessageRules {
        MessageRules(service: .profile, callers: [producer], effect: .idempotent)
    }
}
