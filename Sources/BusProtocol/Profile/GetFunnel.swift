import JSONText

/// Asks how far people came who began in a range of days.
@Message
public struct GetFunnel: PublicRequest {
    public typealias Reply = Funnel
    public static let type: MessageType = "profile.get-funnel"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read, errors: [.validationFailed])
    public static let route = HTTPRoute(
        .get, "/admin/funnel", .staff, "Counts and drop-off per onboarding step.")

    /// The first day in UTC on which they began; by default 30 days before the last.
    @Field(from: .query("from")) public var from: CivilDate?
    /// The last day; today by default.
    @Field(from: .query("to")) public var to: CivilDate?

    /// Takes the first and the last day.
    public init(from: CivilDate? = nil, to: CivilDate? = nil) { (self.from, self.to) = (from, to) }
}

/// The reply to ``GetFunnel``.
///
/// A person who reached a step counts as having reached all earlier steps, even if no event says so. A visitor who
/// never signed in counts as one person.
@Message
public struct Funnel: PublicReply {
    /// The first day on which they began.
    public var from: CivilDate
    /// The last day on which they began.
    public var to: CivilDate
    /// The steps in order.
    @Field(count: 0...32) public var steps: [Step]
    /// How many people have each event.
    @Field(count: 0...64) public var events: [EventCount]

    /// One step of the onboarding.
    @Message
    public struct Step: MessageValue {
        /// The key of the step.
        @Field(.string(1...64)) public var key: String
        /// People who reached the step.
        @Field(.count) public var people: Int64
        /// The share of people who reached the step before but not this one.
        @Field(.number(0...100)) public var dropOffPercent: Double?
        /// The median time from the step before, over people for whom both times are known.
        @Field(.number(0...9_007_199_254_740_991)) public var medianSeconds: Double?
    }

    /// How many people are known to have done something.
    @Message
    public struct EventCount: MessageValue {
        /// The name of the event.
        @Field(.string(1...64)) public var name: String
        /// The number of people.
        @Field(.count) public var people: Int64
    }

    /// Takes the range of days and its counts.
    public init(from: CivilDate, to: CivilDate, steps: [Step], events: [EventCount]) {
        (self.from, self.to, self.steps, self.events) = (from, to, steps, events)
    }
}
