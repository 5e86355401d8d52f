import JSONText

/// Has auth write anew what the phones of some people are looked up by, so that they stand under the look-up keys of its ring
/// and under no other; asked again with ``PhonesRehashed/next``, those of the people after them. What stands so is left alone,
/// so who was interrupted begins anew. For operators.
@Message
public struct RehashPhones: BusRequest {
    public typealias Reply = PhonesRehashed
    public static let type: MessageType = "auth.rehash-phones"
    public static let rules = MessageRules(service: .auth, callers: [.operator], effect: .idempotent)

    /// People at most.
    @Field(.integer(1...1000)) public var limit: Int64
    /// The `next` of the answer before.
    public var after: Identifier?
}

/// The answer to ``RehashPhones``.
@Message
public struct PhonesRehashed: BusReply {

    /// Looked at now.
    @Field(.count) public var people: Int64
    /// Written anew now, former numbers among them.
    @Field(.count) public var phones: Int64
    /// Where there may be more people.
    public var next: Identifier?
    /// Of all people, where there is no `next`: phones that still stand under other keys.
    @Field(.count) public var left: Int64?
}
