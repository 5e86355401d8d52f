import JSONText

/// The claimant takes over the account after the approval.
///
/// This needs a new challenge for the claimant's number or email address, which was sent for a recovery, and the secret that the claimant's device received
/// with the request. Fails with `request_in_progress` while another attempt runs.
@Message
public struct CompleteRecovery: PublicRequest {
    public typealias Reply = Session
    public static let type: MessageType = "recovery.complete-case"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .once,
        errors: [
            .unauthorized, .otpInvalid, .otpExpired, .otpLocked, .recoveryNotReady, .recoveryClosed,
            .claimantHasAccount, .requestInProgress,
        ], replyCarriesToken: true)
    public static let route = HTTPRoute(
        .post, "/auth/recovery/{id}/complete", .recoveryToken, "Moves the account to the new phone or address.",
        hidesItsTime: true
    )

    /// The recovery case.
    @Field(from: .path("id")) public var recoveryId: Identifier
    /// The claimant's token from the request.
    @Field(.string(1...128), from: .recoveryToken) public var recoveryToken: String
    /// The new challenge for the claimant's number or email address, sent for a recovery.
    public var challengeId: Identifier
    /// The code that the claimant received.
    @Field(.otp) public var code: String
    /// The claimant's device. `secret` is the request's `deviceSecret`.
    public var device: DeviceClaim
}
