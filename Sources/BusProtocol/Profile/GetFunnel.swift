import JSONText

/// How far the people came who began in a span of days (`GET /admin/funnel`).
public struct GetFunnel: BusRequest {
    public typealias Reply = Funnel
    public static let type: MessageType = "profile.get-funnel"
    public static let schema = JSONSchema.object([
        .optional("from", .date, "First day in UTC on which they began; 30 days before the last where it is left out"),
        .optional("to", .date, "Last day; today where it is left out"),
    ])
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read, errors: [.validationFailed])
    public var from: CivilDate?
    public var to: CivilDate?
    public init(from: CivilDate? = nil, to: CivilDate? = nil) { (self.from, self.to) = (from, to) }
}

/// The answer to ``GetFunnel``.
///
/// Who came to a step came to those before it, whatever was told of them. A visitor who never signed in counts as one.
public struct Funnel: PublicReply {
    public static let schema = JSONSchema.object([
        .required("from", .date), .required("to", .date), .required("steps", .array(of: Step.schema, count: 0...32)),
        .required("events", .array(of: EventCount.schema, count: 0...64), "People of whom each event is known"),
    ])
    public var from: CivilDate
    public var to: CivilDate
    public var steps: [Step]
    public var events: [EventCount]
    public init(from: CivilDate, to: CivilDate, steps: [Step], events: [EventCount]) {
        (self.from, self.to, self.steps, self.events) = (from, to, steps, events)
    }

    /// One step of the way.
    public struct Step: Codable, Sendable, Equatable {
        static let schema = JSONSchema.object([
            .required("key", .string(1...64)), .required("people", .integer(0...9_007_199_254_740_991)),
            .optional("dropOffPercent", .number(0...100), "Of those at the step before, who did not come here"),
            .optional(
                "medianSeconds", .number(0...9_007_199_254_740_991),
                "From the step before, of those of whom both times are known"),
        ])
        public var key: String
        public var people: Int64
        public var dropOffPercent: Double?
        public var medianSeconds: Double?
        public init(key: String, people: Int64, dropOffPercent: Double? = nil, medianSeconds: Double? = nil) {
            (self.key, self.people, self.dropOffPercent, self.medianSeconds) = (
                key, people, dropOffPercent, medianSeconds
            )
        }
    }

    /// How many are known to have done something.
    public struct EventCount: Codable, Sendable, Equatable {
        static let schema = JSONSchema.object([
            .required("name", .string(1...64)), .required("people", .integer(0...9_007_199_254_740_991)),
        ])
        public var name: String
        public var people: Int64
        public init(name: String, people: Int64) { (self.name, self.people) = (name, people) }
    }
}
