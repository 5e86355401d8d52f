import JSONText

/// A gateway follows the log of revoked sessions by a long poll. Auth replies when there is a new entry, or after
/// `waitMs`.
@Message
public struct FollowRevocations: BusRequest {
    public typealias Reply = RevocationsFollowed
    public static let type: MessageType = "auth.follow-revocations"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .read, isLongPoll: true)

    /// The `cursor` of the last reply. If it is missing, the reply has every revocation that still matters.
    @Field(.count) public var after: Int64?
    /// How long to wait for a new entry, in milliseconds.
    @Field(.integer(0...30_000)) public var waitMs: Int64
}

/// Sessions whose access tokens must be refused.
///
/// An entry may appear more than once. IDs commit out of order, so the log is read with some overlap.
@Message
public struct RevocationsFollowed: BusReply {
    /// A reply with this many entries may not be the last of the log, so the gateway asks again at once. A reply with
    /// many more would exceed the reader's limit on values.
    public static let largestPage = 1000

    /// The next request's `after`.
    @Field(.count) public var cursor: Int64
    /// At most 1,000. Those after the given cursor come first.
    @Field(count: 0...100_000) public var revocations: [Revocation]

    /// One revoked session.
    @Message
    public struct Revocation: MessageValue {
        /// The session.
        public var sessionID: Identifier
        /// When every access token of the session has expired, so that the entry can be forgotten.
        public var forgetAt: Timestamp
    }

    /// Whether the log may have more entries after these.
    public var isFullPage: Bool { revocations.count >= Self.largestPage }
}
