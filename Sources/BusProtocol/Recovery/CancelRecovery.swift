import JSONText

/// The claimant withdraws. Said again, it is answered as the first time.
///
/// Fails with `unauthorized` for a wrong token as for a case that does not exist. A case that was disputed is answered as
/// one that was not.
@Message
public struct CancelRecovery: PublicRequest {
    public typealias Reply = RecoveryCancelled
    public static let type: MessageType = "recovery.cancel-case"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .idempotent, errors: [.unauthorized, .recoveryClosed])
    public static let route = HTTPRoute(
        .post, "/auth/recovery/{id}/cancel", .recoveryToken, "Withdraws the claim.", hidesItsTime: true)

    @Field(from: .path("id")) public var recoveryId: Identifier
    @Field(.string(1...128), from: .recoveryToken) public var recoveryToken: String
}

/// The claim is withdrawn.
@Message
public struct RecoveryCancelled: PublicReply {
    @Field(.string(1...32)) public var status: String
}
