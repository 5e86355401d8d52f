import JSONText

/// A service that sends events asks for the epoch of the receiver's database, and says which one it knows.
///
/// Another epoch than before means that the receiver may have lost events. It accepts none until the sender has put back
/// what it delivered since then, and says so with this message.
@Message
public struct AgreeOnEpoch: BusRequest {
    public typealias Reply = DatabaseEpoch
    public static let type: MessageType = "events.agree-on-epoch"
    public static let rules = MessageRules(
        service: .profile, alsoTold: ServiceName.services.filter { $0 != .profile }, callers: Set(ServiceName.services),
        effect: .idempotent)

    /// The last epoch that the sender knows. What the receiver lost before has been put back. Missing: none.
    @Field(.visibleASCII(1...64)) public var epoch: String?
    /// The cluster of the sender's database.
    @Field(.visibleASCII(1...32), example: "7713184794638867119") public var cluster: String
    /// The time by the clock of the sender's database.
    public var at: Timestamp
}

/// The answer to ``AgreeOnEpoch``.
@Message
public struct DatabaseEpoch: BusReply {
    /// The timeline, the schema and the cluster. Missing: the sender's database is in the same cluster, so both fall back
    /// to the same moment.
    @Field(.visibleASCII(1...64), example: "00000001/16385/7713184794638867119") public var epoch: String?
    /// The time of an earlier message with the epoch of that time. What was delivered until then is not lost. Missing:
    /// there was none.
    public var since: Timestamp?
}
