import JSONText

/// The owner stops a recovery, either with a session of the account or with the token from the notification.
///
/// A repetition gets the same reply.
@Message
public struct DisputeRecovery: PublicRequest {
    public typealias Reply = RecoveryDisputed
    public static let type: MessageType = "recovery.dispute-case"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .recoveryClosed])
    public static let route = HTTPRoute(
        .post, "/auth/recovery/{id}/dispute", .userOrMember("disputeToken"), "The owner stops the recovery.",
        hidesItsTime: true)

    /// The recovery case.
    @Field(from: .path("id")) public var recoveryId: Identifier
    /// The token from the notification; unnecessary with a session of the account.
    @Field(.string(1...128)) public var disputeToken: String?
}

/// The case is disputed.
@Message
public struct RecoveryDisputed: PublicReply {
    /// The status of the case.
    @Field(.recoveryStatus) public var status: String
}
