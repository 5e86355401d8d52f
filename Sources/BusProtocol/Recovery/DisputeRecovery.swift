import JSONText

/// The owner says no, by a session of the account or by the token that the
/// notification carried. Said again, it is answered as the first time.
@Message
public struct DisputeRecovery: PublicRequest {
    public typealias Reply = RecoveryDisputed
    public static let type: MessageType = "recovery.dispute-case"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .recoveryClosed])
    public static let route = HTTPRoute(
        .post, "/auth/recovery/{id}/dispute", .userOrMember("disputeToken"), "The owner's veto.", hidesItsTime: true)

    @Field(from: .path("id")) public var recoveryId: Identifier
    @Field(.string(1...128)) public var disputeToken: String?
}

/// The case is over.
@Message
public struct RecoveryDisputed: PublicReply {
    @Field(.string(1...32)) public var status: String
}
