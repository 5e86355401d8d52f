import JSONText

/// What each capability still needs of the person (`GET /users/me/requirements`).
public struct GetRequirements: BusRequest {
    public typealias Reply = Requirements
    public static let type: MessageType = "profile.get-requirements"
    public static let schema = JSONSchema.object([])
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public init() {}
}

/// One entry for each thing that a person may do in the app.
public struct Requirements: PublicReply {
    public static let schema = JSONSchema.object([
        .required(
            "appAccess", CapabilityNeeds.schema, "The app itself, which no missing field closes: only a suspension does"
        ),
        .required("browse", CapabilityNeeds.schema), .required("like", CapabilityNeeds.schema),
        .required("match", CapabilityNeeds.schema), .required("message", CapabilityNeeds.schema),
        .required("full_confidence", CapabilityNeeds.schema),
        .optional("eligibleOn", .date, "The 18th birthday of a person who is too young"),
    ])
    public var appAccess: CapabilityNeeds
    public var browse: CapabilityNeeds
    public var like: CapabilityNeeds
    public var match: CapabilityNeeds
    public var message: CapabilityNeeds
    public var fullConfidence: CapabilityNeeds
    public var eligibleOn: CivilDate?

    enum CodingKeys: String, CodingKey {
        case appAccess, browse, like, match, message, eligibleOn
        case fullConfidence = "full_confidence"
    }

    public init(
        appAccess: CapabilityNeeds, browse: CapabilityNeeds, like: CapabilityNeeds, match: CapabilityNeeds,
        message: CapabilityNeeds, fullConfidence: CapabilityNeeds, eligibleOn: CivilDate? = nil
    ) {
        (self.appAccess, self.browse, self.like) = (appAccess, browse, like)
        (self.match, self.message, self.fullConfidence) = (match, message, fullConfidence)
        self.eligibleOn = eligibleOn
    }
}

/// What one capability needs. A need is the key of a field, `questionnaire`, `visual_preferences` or `verification`.
public struct CapabilityNeeds: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("currentlyDue", needs, "Without these it is disabled"),
        .required("eventuallyDue", needs, "Wanted, and no hindrance"),
        .required("pastDue", needs, "Due since before the deadline; nothing has one yet"),
        .required("pendingVerification", needs, "Given, and still looked at"),
        .required("errors", .array(of: Fault.schema, count: 0...64)),
        .required("alternatives", .array(of: Alternative.schema, count: 0...16)),
        .optional(
            "disabledReason", .nullable(.string(1...64)),
            "suspended, underage, requirements_due or pending_verification; null where it is enabled"),
        .optional("currentDeadline", .nullable(.dateTime)),
    ])
    private static let needs = JSONSchema.array(of: .string(1...64), count: 0...64)

    public var currentlyDue: [String]
    public var eventuallyDue: [String]
    public var pastDue: [String]
    public var pendingVerification: [String]
    public var errors: [Fault]
    public var alternatives: [Alternative]
    public var disabledReason: String?
    public var currentDeadline: Timestamp?

    /// Why what was given does not do.
    public struct Fault: Codable, Sendable, Equatable {
        static let schema = JSONSchema.object([
            .required("field", .string(1...64)),
            .required(
                "code", .string(1...64),
                "stale: the catalogue does not take the answer any more; failed: of a verification"),
        ])
        public var field: String
        public var code: String
        public init(field: String, code: String) { (self.field, self.code) = (field, code) }
    }

    /// What does in place of something that is due.
    public struct Alternative: Codable, Sendable, Equatable {
        static let schema = JSONSchema.object([
            .required("original", CapabilityNeeds.needs), .required("alternative", CapabilityNeeds.needs),
        ])
        public var original: [String]
        public var alternative: [String]
        public init(original: [String], alternative: [String]) {
            (self.original, self.alternative) = (original, alternative)
        }
    }

    public init(
        currentlyDue: [String] = [], eventuallyDue: [String] = [], pastDue: [String] = [],
        pendingVerification: [String] = [], errors: [Fault] = [], alternatives: [Alternative] = [],
        disabledReason: String? = nil, currentDeadline: Timestamp? = nil
    ) {
        (self.currentlyDue, self.eventuallyDue, self.pastDue) = (currentlyDue, eventuallyDue, pastDue)
        self.pendingVerification = pendingVerification
        (self.errors, self.alternatives) = (errors, alternatives)
        (self.disabledReason, self.currentDeadline) = (disabledReason, currentDeadline)
    }
}
