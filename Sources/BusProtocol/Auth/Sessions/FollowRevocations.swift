import JSONText

/// A gateway's long poll of the log of revoked sessions. Answered when there is something new, or after `waitMs`.
@Message
public struct FollowRevocations: BusRequest {
    public typealias Reply = RevocationsFollowed
    public static let type: MessageType = "auth.follow-revocations"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .read, isLongPoll: true)

    /// The `cursor` of the last answer; without it everything is asked for that still matters.
    @Field(.count) public var after: Int64?
    /// Milliseconds.
    @Field(.integer(0...30_000)) public var waitMs: Int64
}

/// Sessions whose access tokens must no longer be taken. An entry may come more than once: ids commit out of order, so
/// the log is read with some overlap.
@Message
public struct RevocationsFollowed: BusReply {
    /// An answer with so many entries may not be the last of the log: the next is asked for at once. A text of many more
    /// has more values than a reader takes.
    public static let largestPage = 1000

    /// What `after` is the next time.
    @Field(.count) public var cursor: Int64
    /// 1,000 at the most; those behind the cursor that was given come first.
    @Field(count: 0...100_000) public var revocations: [Revocation]

    @Message
    public struct Revocation: MessageValue {
        public var sessionID: Identifier
        /// From then on no token of the session can be alive.
        public var forgetAt: Timestamp
    }

    /// The log may go on behind it.
    public var isFullPage: Bool { revocations.count >= Self.largestPage }
}
