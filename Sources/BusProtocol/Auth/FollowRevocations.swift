import JSONText

/// A gateway's long poll of the log of revoked sessions. Answered when there is something new, or after `waitMs`.
public struct FollowRevocations: BusRequest {
    public typealias Reply = RevocationsFollowed
    public static let type: MessageType = "auth.follow-revocations"
    public static let schema = JSONSchema.object([
        .optional("after", .integer(0...9_007_199_254_740_991)), .required("waitMs", .integer(0...30_000)),
    ])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .read, isLongPoll: true)

    /// The `cursor` of the last answer; `nil` asks for everything that still matters.
    public var after: Int64?
    /// Milliseconds.
    public var waitMs: Int64

    public init(after: Int64? = nil, waitMs: Int64) { (self.after, self.waitMs) = (after, waitMs) }
}

/// Sessions whose access tokens must no longer be taken. An entry may come more than once: ids commit out of order, so
/// the log is read with some overlap.
public struct RevocationsFollowed: BusReply {
    public static let schema = JSONSchema.object([
        .required("cursor", .integer(0...9_007_199_254_740_991)),
        .required(
            "revocations",
            .array(of: .object([.required("sessionID", .uuid), .required("forgetAt", .dateTime)]), count: 0...100_000)),
    ])
    /// What ``FollowRevocations/after`` is the next time.
    public var cursor: Int64
    /// ``largestPage`` at the most; those behind the cursor that was given come first.
    public var revocations: [Revocation]

    /// An answer with so many entries may not be the last of the log: the next is asked for at once. A text of many more
    /// has more values than a reader takes.
    public static let largestPage = 1000
    /// The log may go on behind it.
    public var isFullPage: Bool { revocations.count >= Self.largestPage }

    public struct Revocation: Codable, Sendable, Equatable {
        public var sessionID: Identifier
        /// From then on no token of the session can be alive.
        public var forgetAt: Timestamp
        public init(sessionID: Identifier, forgetAt: Timestamp) {
            (self.sessionID, self.forgetAt) = (sessionID, forgetAt)
        }
    }

    public init(cursor: Int64, revocations: [Revocation]) { (self.cursor, self.revocations) = (cursor, revocations) }
}
