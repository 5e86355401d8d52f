import JSONText

/// Asks how far people came who began in a range of days: in all apps, or in one version of a plan.
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
    /// The key of a plan. Then the steps are those of the plan, and they count the people who follow it.
    @Field(.string(1...64), from: .query("plan")) public var plan: String?
    /// The version of the plan; by default the newest that is not retired.
    @Field(VersionMembers.number, from: .query("version"), inExamples: false) public var version: Int64?
    /// Counts the people who came to the plan by this invitation or campaign.
    @Field(.publishableKey, from: .query("entry")) public var entry: String?

    /// Takes the first and the last day, and the plan with its version and the entry.
    public init(
        from: CivilDate? = nil, to: CivilDate? = nil, plan: String? = nil, version: Int64? = nil, entry: String? = nil
    ) {
        (self.from, self.to, self.plan, self.version, self.entry) = (from, to, plan, version, entry)
    }
}

/// The reply to ``GetFunnel``.
///
/// A person who reached a step counts as having reached all earlier steps, even if no event says so. A visitor who
/// never signed in counts as one person. In the funnel of a plan, a step counts the people who did it.
@Message
public struct Funnel: PublicReply {
    /// The first day on which they began.
    public var from: CivilDate
    /// The last day on which they began.
    public var to: CivilDate
    /// The steps in order.
    @Field(count: 0...32) public var steps: [Step]
    /// How many people have each event. It is empty in the funnel of a plan.
    @Field(count: 0...64) public var events: [EventCount]
    /// The version of the plan, in the funnel of a plan.
    public var plan: PlanVersion?
    /// How many people completed the plan, and how long that took.
    public var total: Total?
    /// The people by how they came to the plan; the most frequent entry first.
    @Field(count: 0...1001) public var entries: [Entry]?

    /// One step of the onboarding.
    @Message
    public struct Step: MessageValue {
        /// The key of the step.
        @Field(.string(1...64), example: "app_opened") public var key: String
        /// People who reached the step.
        @Field(.count) public var people: Int64
        /// The share of people who reached the step before but not this one. In a plan: of those who did every required step
        /// before, the share who did not do this required one.
        @Field(.number(0...100), example: 3.4) public var dropOffPercent: Double?
        /// The median time from the step before, over people for whom both times are known. In a plan: from the required
        /// step before.
        @Field(.number(0...9_007_199_254_740_991)) public var medianSeconds: Double?
        /// What a step of a plan asks for.
        @Field(.stepKind) public var kind: String?
        /// How much a step of a plan is wanted.
        @Field(.fieldCategory) public var need: String?
    }

    /// How many people completed a plan, and how long that took.
    @Message
    public struct Total: MessageValue {
        /// People who began.
        @Field(.count) public var people: Int64
        /// Those of them who are complete.
        @Field(.count) public var completed: Int64
        /// The share who were complete within 24 hours, of the people who began at least 24 hours ago.
        @Field(.number(0...100)) public var withinDayPercent: Double?
        /// The median time until a person was complete.
        @Field(.number(0...9_007_199_254_740_991)) public var medianSeconds: Double?
        /// The time within which nine of ten of those who are complete became so.
        @Field(.number(0...9_007_199_254_740_991), example: 310.5) public var p90Seconds: Double?
    }

    /// The people who came to a plan by one invitation or campaign.
    @Message
    public struct Entry: MessageValue {
        /// The key of the entry; missing for people who came by none.
        @Field(.string(1...64)) public var entry: String?
        /// People who began.
        @Field(.count) public var people: Int64
        /// Those of them who are complete.
        @Field(.count) public var completed: Int64
        /// The share who were complete within 24 hours, of the people who began at least 24 hours ago.
        @Field(.number(0...100)) public var withinDayPercent: Double?
    }

    /// How many people are known to have done something.
    @Message
    public struct EventCount: MessageValue {
        /// The name of the event.
        @Field(.string(1...64), example: "app_opened") public var name: String
        /// The number of people.
        @Field(.count) public var people: Int64
    }

    /// Takes the range of days and its counts.
    public init(
        from: CivilDate, to: CivilDate, steps: [Step], events: [EventCount], plan: PlanVersion? = nil,
        total: Total? = nil, entries: [Entry]? = nil
    ) {
        (self.from, self.to, self.steps, self.events) = (from, to, steps, events)
        (self.plan, self.total, self.entries) = (plan, total, entries)
    }
}
