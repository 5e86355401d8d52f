import JSONText

/// Somebody claims an account (`POST /auth/recovery/request`) and proves the phone that they hold now.
///
/// The same answer whether or not an account has the number.
public struct RequestRecovery: BusRequest {
    public typealias Reply = RecoveryRequested
    public static let type: MessageType = "recovery.request-recovery"
    public static let schema = JSONSchema.object([
        .required("accountPhone", .string(1...64), "The number of the account, with a country code"),
        .required("challengeId", .uuid, "A `recovery` challenge for the number that the claimant holds now"),
        .required("code", .string(.init(length: 6...6, format: .otp))), .required("device", DeviceClaim.schema),
        .optional("reason", .string(0...500), "Why, for the reviewers; kept sealed while the case is open"),
        .optional("identity", IdentityProof.schema, "Proves the claim where it is linked to the account"),
    ])
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .once,
        errors: [
            .invalidPhone, .otpInvalid, .otpExpired, .otpLocked, .rateLimited, .recoveryInProgress, .claimantHasAccount,
            .identityTokenInvalid, .identityProviderUnavailable,
        ],
        replyCarriesToken: true)

    public var accountPhone: String
    public var challengeId: Identifier
    public var code: String
    public var device: DeviceClaim
    /// Why, for the reviewers. It is kept sealed while the case is open, and its owner never reads it.
    public var reason: String?
    /// A sign-in with Apple or Google: a claim by what is linked to the account is not ended by a dispute alone.
    public var identity: IdentityProof?

    public init(
        accountPhone: String, challengeId: Identifier, code: String, device: DeviceClaim, reason: String? = nil,
        identity: IdentityProof? = nil
    ) {
        self.accountPhone = accountPhone
        self.challengeId = challengeId
        self.code = code
        self.device = device
        self.reason = reason
        self.identity = identity
    }
}

/// The claim is taken and its hold runs.
public struct RecoveryRequested: PublicReply {
    public static let schema = JSONSchema.object([
        .required("recoveryId", .uuid), .required("recoveryToken", .string(1...128)),
        .required("status", .string(1...32)), .required("holdUntil", .dateTime),
        .optional("deviceSecret", .string(1...128), "Completing wants it, in device.secret; shown here only"),
    ])
    public var recoveryId: Identifier
    /// Reads and cancels the case; shown here only.
    public var recoveryToken: String
    public var status: String
    public var holdUntil: Timestamp
    /// Proves the claiming device; shown here only.
    public var deviceSecret: String?

    public init(
        recoveryId: Identifier, recoveryToken: String, status: String, holdUntil: Timestamp, deviceSecret: String? = nil
    ) {
        self.recoveryId = recoveryId
        self.recoveryToken = recoveryToken
        self.status = status
        self.holdUntil = holdUntil
        self.deviceSecret = deviceSecret
    }
}
