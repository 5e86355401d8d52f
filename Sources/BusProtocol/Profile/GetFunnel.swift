import JSONText

/// How far the people came who began in a span of days.
@Message
public struct GetFunnel: PublicRequest {
    public typealias Reply = Funnel
    public static let type: MessageType = "profile.get-funnel"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read, errors: [.validationFailed])
    public static let route = HTTPRoute(
        .get, "/admin/funnel", .staff, "Counts and drop-off per onboarding step.")

    /// First day in UTC on which they began; 30 days before the last where it is left out.
    @Field(from: .query("from")) public var from: CivilDate?
    /// Last day; today where it is left out.
    @Field(from: .query("to")) public var to: CivilDate?

    public init(from: CivilDate? = nil, to: CivilDate? = nil) { (self.from, self.to) = (from, to) }
}

/// The answer to ``GetFunnel``.
///
/// Who came to a step came to those before it, whatever was told of them. A visitor who never signed in counts as one.
@Message
public struct Funnel: PublicReply {
    public var from: CivilDate
    public var to: CivilDate
    @Field(count: 0...32) public var steps: [Step]
    /// People of whom each event is known.
    @Field(count: 0...64) public var events: [EventCount]

    /// One step of the way.
    @Message
    public struct Step: MessageValue {
        @Field(.string(1...64)) public var key: String
        @Field(.count) public var people: Int64
        /// Of those at the step before, who did not come here.
        @Field(.number(0...100)) public var dropOffPercent: Double?
        /// From the step before, of those of whom both times are known.
        @Field(.number(0...9_007_199_254_740_991)) public var medianSeconds: Double?
    }

    /// How many are known to have done something.
    @Message
    public struct EventCount: MessageValue {
        @Field(.string(1...64)) public var name: String
        @Field(.count) public var people: Int64
    }

    public init(from: CivilDate, to: CivilDate, steps: [Step], events: [EventCount]) {
        (self.from, self.to, self.steps, self.events) = (from, to, steps, events)
    }
}
