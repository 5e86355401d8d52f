import JSONText

/// The cases against one's own account, as they are: also those that were disputed.
@Message
public struct ListOwnCases: PublicRequest {
    public typealias Reply = OwnRecoveryCases
    public static let type: MessageType = "recovery.list-own-cases"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/users/me/recovery-cases", .user, "The cases against one's own account.")
}

/// The newest first; a hundred at the most.
@Message
public struct OwnRecoveryCases: PublicReply {
    @Field(count: 0...100) public var cases: [Case]
    /// Only a claimant with a proof may ask for the account.
    public var lockEnabled: Bool
    /// Somebody switched the lock off: it holds until then.
    public var lockEndsAt: Timestamp?

    @Message
    public struct Case: MessageValue {
        public var recoveryId: Identifier
        @Field(.string(1...32)) public var status: String
        public var requestedAt: Timestamp
        public var holdUntil: Timestamp
        public var closedAt: Timestamp?
    }
}

/// Admits to a recovery of one's own account only who has shown what a stranger cannot.
///
/// Both ways take a sign-in by a code within five minutes, and every device is told. A lock that is switched off holds for 24
/// hours more: until then any session of the account keeps it, by `enabled: true`.
@Message
public struct SetRecoveryLock: PublicRequest {
    public typealias Reply = RecoveryLock
    public static let type: MessageType = "recovery.set-lock"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .reauthenticationRequired])
    public static let route = HTTPRoute(
        .put, "/users/me/recovery-lock", .user, "Admits proven claimants only.", carriesToken: true)

    public var enabled: Bool
}

/// Whether the lock is on.
@Message
public struct RecoveryLock: PublicReply {
    public var enabled: Bool
    /// It was switched off, and holds until then.
    public var endsAt: Timestamp?
}
