import JSONText

/// Asks recovery's reviewers' question: which kinds of devices an account has, and since when. Neither names nor IDs of
/// devices are told.
@Message
public struct DescribeDevices: BusRequest {
    public typealias Reply = DevicesDescribed
    public static let type: MessageType = "auth.describe-devices"
    public static let rules = MessageRules(service: .auth, callers: [.recovery], effect: .read)

    /// The person.
    public var personID: Identifier
}

/// The answer to ``DescribeDevices``.
@Message
public struct DevicesDescribed: BusReply {
    /// At most 100, the last used first.
    @Field(count: 0...100) public var devices: [Device]

    /// A device of the account.
    @Message
    public struct Device: MessageValue {
        /// The operating system, or `web`.
        @Field(.string(1...32)) public var platform: String
        /// When the account got the device.
        public var addedAt: Timestamp
        /// When it was last used.
        public var lastUsedAt: Timestamp
    }
}
