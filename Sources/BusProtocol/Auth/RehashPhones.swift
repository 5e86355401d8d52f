import JSONText

/// Has auth write anew what the phones of some people are looked up by, so that they stand under the look-up keys of its ring
/// and under no other; asked again with ``PhonesRehashed/next``, those of the people after them. What stands so is left alone,
/// so who was interrupted begins anew. For operators.
public struct RehashPhones: BusRequest {
    public typealias Reply = PhonesRehashed
    public static let type: MessageType = "auth.rehash-phones"
    public static let rules = MessageRules(service: .auth, callers: [.operator], effect: .idempotent)
    public static let schema = JSONSchema.object([
        .required("limit", .integer(1...1000), "People at most."),
        .optional("after", .uuid, "The `next` of the answer before."),
    ])

    /// People at most.
    public var limit: Int64
    /// The ``PhonesRehashed/next`` of the answer before.
    public var after: Identifier?

    public init(limit: Int64, after: Identifier? = nil) { (self.limit, self.after) = (limit, after) }
}

/// The answer to ``RehashPhones``.
public struct PhonesRehashed: BusReply {
    public static let schema = JSONSchema.object([
        .required("people", count, "Looked at now."),
        .required("phones", count, "Written anew now, former numbers among them."),
        .optional("next", .uuid, "Where there may be more people."),
        .optional("left", count, "Of all people, where there is no `next`: phones that still stand under other keys."),
    ])

    private static let count = JSONSchema.integer(0...9_007_199_254_740_991)

    /// Looked at now.
    public var people: Int64
    /// Written anew now, former numbers among them.
    public var phones: Int64
    /// Where there may be more people.
    public var next: Identifier?
    /// Of all people, where there is no ``next``: phones that still stand under other keys.
    public var left: Int64?

    public init(people: Int64, phones: Int64, next: Identifier? = nil, left: Int64? = nil) {
        (self.people, self.phones, self.next, self.left) = (people, phones, next, left)
    }
}
