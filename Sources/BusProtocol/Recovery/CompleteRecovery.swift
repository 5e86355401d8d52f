import JSONText

/// The claimant takes the account over after the approval (`POST /auth/recovery/{id}/complete`): by a new `recovery` challenge
/// for the number that claimed, and the secret that the claiming device got with the request.
///
/// `request_in_progress` while another attempt is under way.
public struct CompleteRecovery: BusRequest {
    public typealias Reply = Session
    public static let type: MessageType = "recovery.complete-case"
    public static let schema = JSONSchema.object([
        .required("recoveryId", .uuid), .required("recoveryToken", .string(1...128)), .required("challengeId", .uuid),
        .required("code", .string(.init(length: 6...6, format: .otp))), .required("device", DeviceClaim.schema),
    ])
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .once,
        errors: [
            .unauthorized, .otpInvalid, .otpExpired, .otpLocked, .recoveryNotReady, .recoveryClosed,
            .claimantHasAccount, .requestInProgress,
        ], replyCarriesToken: true)

    public var recoveryId: Identifier
    public var recoveryToken: String
    public var challengeId: Identifier
    public var code: String
    /// `secret` is the request's `deviceSecret`.
    public var device: DeviceClaim

    public init(
        recoveryId: Identifier, recoveryToken: String, challengeId: Identifier, code: String, device: DeviceClaim
    ) {
        self.recoveryId = recoveryId
        self.recoveryToken = recoveryToken
        self.challengeId = challengeId
        self.code = code
        self.device = device
    }
}
