import JSONText

/// Seals the dates among the answers of some sessions that were written before dates were sealed; asked again with
/// ``DatesSealed/next``, those of the sessions after them. What is sealed is left alone, so who was interrupted begins anew. For
/// operators.
public struct SealDates: BusRequest {
    public typealias Reply = DatesSealed
    public static let type: MessageType = "questionnaire.seal-dates"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.operator], effect: .idempotent, errors: [.sealingOff])
    public static let schema = JSONSchema.object([
        .required("limit", .integer(1...100), "Sessions at most."),
        .optional("after", .string(1...200), "The `next` of the answer before."),
    ])

    /// Sessions at most.
    public var limit: Int64
    /// The ``DatesSealed/next`` of the answer before.
    public var after: String?

    public init(limit: Int64, after: String? = nil) { (self.limit, self.after) = (limit, after) }
}

/// The answer to ``SealDates``.
public struct DatesSealed: BusReply {
    public static let schema = JSONSchema.object([
        .required("sessions", count, "Looked at now."),
        .required("dates", count, "Sealed now, each place where one stood."),
        .optional("next", .string(1...200), "Where there are more sessions."),
    ])

    private static let count = JSONSchema.integer(0...9_007_199_254_740_991)

    /// Looked at now.
    public var sessions: Int64
    /// Sealed now, each place where one stood.
    public var dates: Int64
    /// Where there are more sessions.
    public var next: String?

    public init(sessions: Int64, dates: Int64, next: String? = nil) {
        (self.sessions, self.dates, self.next) = (sessions, dates, next)
    }
}
