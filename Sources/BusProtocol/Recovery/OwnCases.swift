import JSONText

/// An owner lists the cases against their account, including disputed ones. They are shown as they are.
@Message
public struct ListOwnCases: PublicRequest {
    public typealias Reply = OwnRecoveryCases
    public static let type: MessageType = "recovery.list-own-cases"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/users/me/recovery-cases", .user, "The recovery cases against the person's account.")
}

/// The reply to ``ListOwnCases``.
@Message
public struct OwnRecoveryCases: PublicReply {
    /// The newest 100 at most, the newest first.
    @Field(count: 0...100) public var cases: [Case]
    /// Whether only a claimant with a proof may ask for the account.
    public var lockEnabled: Bool
    /// The recovery lock was switched off and is effective until then.
    public var lockEndsAt: Timestamp?

    /// A recovery case against the account.
    @Message
    public struct Case: MessageValue {
        /// The recovery case.
        public var recoveryId: Identifier
        /// The status of the case.
        @Field(.recoveryStatus) public var status: String
        /// When the claimant asked for the account.
        public var requestedAt: Timestamp
        /// When the hold ends.
        public var holdUntil: Timestamp
        /// When the case was closed.
        public var closedAt: Timestamp?
    }
}

/// Switches the recovery lock on or off. While it is on, only a claimant with a proof may ask for the account.
///
/// Both changes need a sign-in with a code within five minutes, and all devices are notified. A lock that is switched
/// off stays effective for 24 hours. During that time any session of the account may keep it with `enabled: true`.
@Message
public struct SetRecoveryLock: PublicRequest {
    public typealias Reply = RecoveryLock
    public static let type: MessageType = "recovery.set-lock"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .reauthenticationRequired])
    public static let route = HTTPRoute(
        .put, "/users/me/recovery-lock", .user, "Allows only claimants with a proof.", carriesToken: true)

    /// Whether the lock should be on.
    public var enabled: Bool
}

/// The state of the recovery lock.
@Message
public struct RecoveryLock: PublicReply {
    /// Whether the lock is on.
    public var enabled: Bool
    /// The lock was switched off and is effective until then.
    public var endsAt: Timestamp?
}
