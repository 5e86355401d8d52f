import JSONText

/// A claimant's look at the own case.
///
/// Fails with `unauthorized` for a wrong token as for a case that does not exist.
@Message
public struct GetRecoveryCase: PublicRequest {
    public typealias Reply = RecoveryCaseView
    public static let type: MessageType = "recovery.get-case"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/auth/recovery/{id}", .recoveryToken, "A claimant's own case.", hidesItsTime: true)

    @Field(from: .path("id")) public var recoveryId: Identifier
    @Field(.string(1...128), from: .recoveryToken) public var recoveryToken: String
}

/// What a claimant sees: the same for a case that was disputed and for a number that has no account.
@Message
public struct RecoveryCaseView: PublicReply {
    @Field(.string(1...32)) public var status: String
    public var requestedAt: Timestamp
    public var holdUntil: Timestamp
    /// Of the hold.
    @Field(.integer(0...1_209_600)) public var remainingSeconds: Int64
    @Field(count: 1...8) public var steps: [RecoveryStep]
}

/// One step of a recovery, in the order in which they are taken.
@Message
public struct RecoveryStep: MessageValue {
    @Field(.values("hold", "identity", "review", "complete")) public var key: String
    @Field(.values("done", "current", "pending")) public var state: String
}
