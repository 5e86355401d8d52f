import JSONText

/// The claimant withdraws the claim. A repetition gets the same reply.
///
/// Fails with `unauthorized` both for a wrong token and for a case that does not exist. The reply does not reveal
/// whether the owner disputed the case.
@Message
public struct CancelRecovery: PublicRequest {
    public typealias Reply = RecoveryCancelled
    public static let type: MessageType = "recovery.cancel-case"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .idempotent, errors: [.unauthorized, .recoveryClosed])
    public static let route = HTTPRoute(
        .post, "/auth/recovery/{id}/cancel", .recoveryToken, "Withdraws the claim.", hidesItsTime: true)

    /// The recovery case.
    @Field(from: .path("id")) public var recoveryId: Identifier
    /// The claimant's token from the request.
    @Field(.string(1...128), from: .recoveryToken) public var recoveryToken: String
}

/// The claim is withdrawn.
@Message
public struct RecoveryCancelled: PublicReply {
    /// The status that the claimant sees.
    @Field(.recoveryStatus) public var status: String
}
