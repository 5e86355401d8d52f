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

/// Another photo stands for a person, or none does any more.
@Message
public struct PhotoChanged: BusEvent {
    public static let type: MessageType = "verification.photo-changed"
    public static let rules = ExternalService.rules(of: .verification)

    public var personID: Identifier
    @Field(.count) public var personSequence: Int64 = 0
    /// The first photo that others may see; missing if there is none.
    public var photo: Photo?
    /// When it changed.
    public var at: Timestamp

    /// Where a photo is, and what opens it.
    @Message
    public struct Photo: MessageValue {
        /// The address without its query: a path at the address of the API, or all of it.
        @Field(.string(1...1024)) public var address: String
        /// The 32 bytes that sign this address and no other, in base64url. They are a secret.
        @Field(.string(43...43)) public var key: String
    }
}

private enum ExternalService {
    static func rules(of producer: ServiceName) -> MessageRules {
        MessageRules(service: .profile, callers: [producer], effect: .idempotent, delivery: .untilTaken)
    }
}
