import JSONText

/// The claimant takes the account over after the approval: by a new `recovery` challenge
/// for the number that claimed, and the secret that the claiming device got with the request.
///
/// `request_in_progress` while another attempt is under way.
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
        .post, "/auth/recovery/{id}/complete", .recoveryToken, "Moves the account to the new phone.", hidesItsTime: true
    )

    @Field(from: .path("id")) public var recoveryId: Identifier
    @Field(.string(1...128), from: .recoveryToken) public var recoveryToken: String
    public var challengeId: Identifier
    @Field(.otp) public var code: String
    /// `secret` is the request's `deviceSecret`.
    public var device: DeviceClaim
}
