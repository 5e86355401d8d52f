import JSONText

/// Recomputes the look-up hashes of some people's phones, so that only hashes by the keys in auth's key ring are left.
/// For operators.
///
/// The next request continues from ``PhonesRehashed/next``. Up-to-date hashes stay as they are, so an interrupted run
/// starts again from the beginning.
@Message
public struct RehashPhones: BusRequest {
    public typealias Reply = PhonesRehashed
    public static let type: MessageType = "auth.rehash-phones"
    public static let rules = MessageRules(service: .auth, callers: [.operator], effect: .idempotent)

    /// The most people of this request.
    @Field(.integer(1...1000)) public var limit: Int64
    /// The `next` of the previous reply.
    public var after: Identifier?
}

/// The answer to ``RehashPhones``.
@Message
public struct PhonesRehashed: BusReply {

    /// People examined by this request.
    @Field(.count) public var people: Int64
    /// Phones rehashed by this request, including former numbers.
    @Field(.count) public var phones: Int64
    /// Present if there may be more people.
    public var next: Identifier?
    /// Without a `next`: the phones of all people that still have hashes of other keys.
    @Field(.count) public var left: Int64?
}
