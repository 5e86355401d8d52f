import JSONText

/// Takes what a client tells of the way through the onboarding: what only the client sees. The rest the
/// services note by themselves. An event is taken once, by its id; a step of the way once a person.
@Message
public struct RecordEvents: PublicRequest {
    public typealias Reply = EventsRecorded
    public static let type: MessageType = "profile.record-events"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent, errors: [.validationFailed])
    public static let route = HTTPRoute(
        .post, "/events", .anybody, "Takes client-side analytics events.", success: 202)

    /// The client's own name for a visitor, needed before sign-in; given again when the code is verified.
    @Field(.string(1...64)) public var anonymousId: String?
    @Field(count: 1...50) public var events: [ClientEvent]
}

/// One event as a client tells it.
@Message
public struct ClientEvent: MessageValue {
    /// Made by the client; sent again, the event is taken once.
    public var eventId: Identifier
    @Field(
        .values(
            "app_opened", "onboarding_started", "phone_entered", "questionnaire_started", "profiling_completed",
            "vps_ready", "vps_deferred", "verification_consent_given", "verification_completed", "first_match_viewed"))
    public var name: String
    /// By the client's clock; no later than now and no earlier than 30 days ago counts.
    public var at: Timestamp
    public var properties: EventProperties?
}

/// What may be said of an event: nothing that names a person or that a person wrote.
@Message
public struct EventProperties: MessageValue {
    @Field(.values("cold_start", "deep_link", "return_after_logout")) public var entryPoint: String?
    @Field(.values("ios", "android", "web")) public var platform: String?
}

/// The answer to ``RecordEvents``.
@Message
public struct EventsRecorded: PublicReply {
    /// Those that were not known yet.
    @Field(.integer(0...50)) public var recorded: Int64
}
