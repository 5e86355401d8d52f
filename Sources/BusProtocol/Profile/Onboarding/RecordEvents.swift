import JSONText

/// A client reports steps of the onboarding that only the client sees. The services record all others themselves.
///
/// An event is recorded once, by its ID. A step of the onboarding is recorded once per person.
@Message
public struct RecordEvents: PublicRequest {
    public typealias Reply = EventsRecorded
    public static let type: MessageType = "profile.record-events"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent, errors: [.validationFailed])
    public static let route = HTTPRoute(
        .post, "/events", .anybody, "Records analytics events of the client.", success: 202)

    /// The client's own name for a visitor, required before sign-in. The client repeats it when it verifies the code.
    @Field(.string(1...64), inExamples: true) public var anonymousId: String?
    /// The events, in any order.
    @Field(count: 1...50) public var events: [ClientEvent]
}

/// One event as a client reports it.
@Message
public struct ClientEvent: MessageValue {
    /// Made by the client. A repetition is recorded once.
    public var eventId: Identifier
    /// The name of the event.
    @Field(
        .values(
            "app_opened", "onboarding_started", "phone_entered", "questionnaire_started", "profiling_completed",
            "vps_ready", "vps_deferred", "verification_consent_given", "verification_completed", "first_match_viewed"))
    public var name: String
    /// When it happened, by the client's clock. A time in the future or more than 30 days ago is replaced by the
    /// nearest allowed one.
    public var at: Timestamp
    /// More about the event.
    public var properties: EventProperties?
}

/// More about an event. Nothing in it names a person or was written by one.
@Message
public struct EventProperties: MessageValue {
    /// How the app was opened.
    @Field(.values("cold_start", "deep_link", "return_after_logout")) public var entryPoint: String?
    /// The device's operating system, or `web`.
    @Field(.platform) public var platform: String?
}

/// The answer to ``RecordEvents``.
@Message
public struct EventsRecorded: PublicReply {
    /// The events that were not known yet.
    @Field(.integer(0...50), example: 2) public var recorded: Int64
}
