import JSONText

/// Somebody claims an account and proves the phone that they hold now.
///
/// The same answer whether or not an account has the number.
@Message
public struct RequestRecovery: PublicRequest {
    public typealias Reply = RecoveryRequested
    public static let type: MessageType = "recovery.request-recovery"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .once,
        errors: [
            .invalidPhone, .otpInvalid, .otpExpired, .otpLocked, .rateLimited, .recoveryInProgress, .claimantHasAccount,
            .identityTokenInvalid, .identityProviderUnavailable,
        ],
        replyCarriesToken: true)
    public static let route = HTTPRoute(
        .post, "/auth/recovery/request", .public, "Claims an account whose phone is lost.", success: 202,
        hidesItsTime: true)

    /// The number of the account, with a country code.
    @Field(.string(1...64)) public var accountPhone: String
    /// A `recovery` challenge for the number that the claimant holds now.
    public var challengeId: Identifier
    @Field(.otp) public var code: String
    public var device: DeviceClaim
    /// Why, for the reviewers. It is kept sealed while the case is open, and its owner never reads it.
    @Field(.string(0...500)) public var reason: String?
    /// Proves the claim where it is linked to the account.
    ///
    /// A sign-in with Apple or Google: a claim by what is linked to the account is not ended by a dispute alone.
    public var identity: IdentityProof?
}

/// The claim is taken and its hold runs.
@Message
public struct RecoveryRequested: PublicReply {
    public var recoveryId: Identifier
    /// Reads and cancels the case; shown here only.
    @Field(.string(1...128)) public var recoveryToken: String
    @Field(.string(1...32)) public var status: String
    public var holdUntil: Timestamp
    /// Completing wants it, in device.secret; shown here only.
    @Field(.string(1...128)) public var deviceSecret: String?
}
