import JSONText

/// Encrypts dates and answers to sensitive questions of some sessions that were written before they were encrypted.
///
/// For operators. The next request continues from ``DatesSealed/next``. What is encrypted stays as it is, so an
/// interrupted run starts again from the beginning.
@Message
public struct SealDates: BusRequest {
    public typealias Reply = DatesSealed
    public static let type: MessageType = "questionnaire.seal-dates"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.operator], effect: .idempotent, errors: [.sealingOff])

    /// The most sessions of this request.
    @Field(.integer(1...100)) public var limit: Int64
    /// The `next` of the previous reply.
    @Field(.string(1...200)) public var after: String?
}

/// The answer to ``SealDates``.
@Message
public struct DatesSealed: BusReply {

    /// Sessions examined by this request.
    @Field(.count) public var sessions: Int64
    /// Dates encrypted by this request, counted at each place where one was.
    @Field(.count) public var dates: Int64
    /// Answers to sensitive questions encrypted by this request, counted in the same way.
    @Field(.count) public var answers: Int64?
    /// Present if there are more sessions.
    @Field(.string(1...200)) public var next: String?
}
