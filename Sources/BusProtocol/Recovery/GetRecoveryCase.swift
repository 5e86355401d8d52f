import JSONText

/// A claimant asks for their own case.
///
/// Fails with `unauthorized` both for a wrong token and for a case that does not exist.
@Message
public struct GetRecoveryCase: PublicRequest {
    public typealias Reply = RecoveryCaseView
    public static let type: MessageType = "recovery.get-case"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/auth/recovery/{id}", .recoveryToken, "A claimant's own case.", hidesItsTime: true)

    /// The recovery case.
    @Field(from: .path("id")) public var recoveryId: Identifier
    /// The claimant's token from the request.
    @Field(.string(1...128), from: .recoveryToken) public var recoveryToken: String
}

/// The case as its claimant sees it. A disputed case looks the same as a case for a number without an account.
@Message
public struct RecoveryCaseView: PublicReply {
    /// The status that the claimant sees.
    @Field(.recoveryStatus) public var status: String
    /// When the claimant asked for the account.
    public var requestedAt: Timestamp
    /// When the hold ends.
    public var holdUntil: Timestamp
    /// The rest of the hold.
    @Field(.integer(0...1_209_600), example: 259200) public var remainingSeconds: Int64
    /// The steps in order.
    @Field(count: 1...8) public var steps: [RecoveryStep]
}

/// One step of a recovery.
@Message
public struct RecoveryStep: MessageValue {
    /// The key of the step.
    @Field(.values("hold", "identity", "review", "complete"), example: "hold") public var key: String
    /// Whether the case has passed the step.
    @Field(.stepState) public var state: String
}
