import JSONText

/// The visual preferences of a person are known well enough to match by (`visual_preference_profiles.status` is `ready`).
public struct VisualPreferencesReady: BusEvent {
    public static let type: MessageType = "visual-preference.profile-ready"
    public static let schema = LaterService.schema([])
    public static let rules = LaterService.rules(of: .visualPreference)

    public var personID: Identifier
    public var personSequence: Int64
    public var at: Timestamp
    public init(personID: Identifier, personSequence: Int64 = 0, at: Timestamp) {
        (self.personID, self.personSequence, self.at) = (personID, personSequence, at)
    }
}

/// A person put the capture of visual preferences off, and is matched provisionally until then.
public struct VisualPreferencesDeferred: BusEvent {
    public static let type: MessageType = "visual-preference.capture-deferred"
    public static let schema = LaterService.schema([])
    public static let rules = LaterService.rules(of: .visualPreference)

    public var personID: Identifier
    public var personSequence: Int64
    public var at: Timestamp
    public init(personID: Identifier, personSequence: Int64 = 0, at: Timestamp) {
        (self.personID, self.personSequence, self.at) = (personID, personSequence, at)
    }
}

/// What came of a person's photo or document; the last word counts.
public struct VerificationDecided: BusEvent {
    public static let type: MessageType = "verification.decided"
    public static let schema = LaterService.schema([
        .required("level", .string(1...32), "photo or id; of another one nothing follows"),
        .required("outcome", .string(1...32), "verified, failed or in_review; of another one nothing follows"),
    ])
    public static let rules = LaterService.rules(of: .verification)

    public var personID: Identifier
    public var personSequence: Int64
    public var level: String
    public var outcome: String
    public var at: Timestamp
    public init(personID: Identifier, personSequence: Int64 = 0, level: String, outcome: String, at: Timestamp) {
        (self.personID, self.personSequence, self.at) = (personID, personSequence, at)
        (self.level, self.outcome) = (level, outcome)
    }
}

private enum LaterService {
    static func schema(_ members: [JSONSchema.Member]) -> JSONSchema {
        .object(
            [.required("personID", .uuid), .required("personSequence", .integer(0...9_007_199_254_740_991))] + members
                + [.required("at", .dateTime)])
    }

    static func rules(of producer: ServiceName) -> MessageRules {
        MessageRules(service: .profile, callers: [producer], effect: .idempotent)
    }
}
