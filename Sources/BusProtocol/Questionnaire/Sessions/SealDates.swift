import JSONText

/// Seals the dates among the answers of some sessions that were written before dates were sealed; asked again with
/// ``DatesSealed/next``, those of the sessions after them. What is sealed is left alone, so who was interrupted begins anew. For
/// operators.
@Message
public struct SealDates: BusRequest {
    public typealias Reply = DatesSealed
    public static let type: MessageType = "questionnaire.seal-dates"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.operator], effect: .idempotent, errors: [.sealingOff])

    /// Sessions at most.
    @Field(.integer(1...100)) public var limit: Int64
    /// The `next` of the answer before.
    @Field(.string(1...200)) public var after: String?
}

/// The answer to ``SealDates``.
@Message
public struct DatesSealed: BusReply {

    /// Looked at now.
    @Field(.count) public var sessions: Int64
    /// Sealed now, each place where one stood.
    @Field(.count) public var dates: Int64
    /// Where there are more sessions.
    @Field(.string(1...200)) public var next: String?
}
