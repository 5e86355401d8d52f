import JSONText

/// Takes what a client tells of the way through the onboarding (`POST /events`): what only the client sees. The rest the
/// services note by themselves. An event is taken once, by its id; a step of the way once a person.
public struct RecordEvents: BusRequest {
    public typealias Reply = EventsRecorded
    public static let type: MessageType = "profile.record-events"
    public static let schema = JSONSchema.object([
        .optional(
            "anonymousId", .string(1...64),
            "The client's own name for a visitor, needed before sign-in; given again when the code is verified"),
        .required("events", .array(of: ClientEvent.schema, count: 1...50)),
    ])
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent, errors: [.validationFailed])
    public var anonymousId: String?
    public var events: [ClientEvent]
    public init(anonymousId: String? = nil, events: [ClientEvent]) {
        (self.anonymousId, self.events) = (anonymousId, events)
    }
}

/// One event as a client tells it.
public struct ClientEvent: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("eventId", .uuid, "Made by the client; sent again, the event is taken once"),
        .required(
            "name",
            .values(
                "app_opened", "onboarding_started", "phone_entered", "questionnaire_started", "profiling_completed",
                "vps_ready", "vps_deferred", "verification_consent_given", "verification_completed",
                "first_match_viewed")),
        .required("at", .dateTime, "By the client's clock; no later than now and no earlier than 30 days ago counts"),
        .optional("properties", EventProperties.schema),
    ])
    public var eventId: Identifier
    public var name: String
    public var at: Timestamp
    public var properties: EventProperties?
    public init(eventId: Identifier, name: String, at: Timestamp, properties: EventProperties? = nil) {
        (self.eventId, self.name, self.at, self.properties) = (eventId, name, at, properties)
    }
}

/// What may be said of an event: nothing that names a person or that a person wrote.
public struct EventProperties: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .optional("entryPoint", .values("cold_start", "deep_link", "return_after_logout")),
        .optional("platform", .values("ios", "android", "web")),
    ])
    public var entryPoint: String?
    public var platform: String?
    public init(entryPoint: String? = nil, platform: String? = nil) {
        (self.entryPoint, self.platform) = (entryPoint, platform)
    }
}

/// The answer to ``RecordEvents``.
public struct EventsRecorded: PublicReply {
    public static let schema = JSONSchema.object([
        .required("recorded", .integer(0...50), "Those that were not known yet")
    ])
    public var recorded: Int64
    public init(recorded: Int64) { self.recorded = recorded }
}
