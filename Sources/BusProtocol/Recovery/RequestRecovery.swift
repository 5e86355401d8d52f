import JSONText

/// A claimant asks for an account and proves the phone or the email address that they have now.
///
/// The reply does not reveal whether there is such an account. An account with a number is named by `accountPhone`, and
/// the code goes to a phone. Any other account is named by `accountEmail`, or by a linked `identity` alone. Its claimant
/// proves a phone or an email address. Such an address must be the account's own, or the claim needs another proof.
@Message
public struct RequestRecovery: PublicRequest {
    public typealias Reply = RecoveryRequested
    public static let type: MessageType = "recovery.request-recovery"
    public static let version: UInt16 = 2
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .once,
        errors: [
            .invalidPhone, .otpInvalid, .otpExpired, .otpLocked, .rateLimited, .recoveryInProgress, .claimantHasAccount,
            .identityTokenInvalid, .identityProviderUnavailable, .methodNotAvailable, .validationFailed,
        ],
        replyCarriesToken: true)
    public static let route = HTTPRoute(
        .post, "/auth/recovery/request", .public, "Claims an account that its owner cannot open any more.",
        success: 202, hidesItsTime: true)

    /// The number of the account, with a country code.
    @Field(.string(1...64), inExamples: true) public var accountPhone: String?
    /// The email address of the account, instead of a number.
    @Field(.string(1...254)) public var accountEmail: String?
    /// A challenge for the number or the email address that the claimant has now. It was sent for a recovery.
    public var challengeId: Identifier
    /// The code that the claimant received.
    @Field(.otp) public var code: String
    /// The claimant's device.
    public var device: DeviceClaim
    /// Why, for the reviewers. It is kept encrypted while the case is open, and the owner never sees it.
    @Field(.string(0...500), example: "My phone was stolen.") public var reason: String?
    /// A sign-in with Apple or Google. It proves the claim if it is linked to the account.
    ///
    /// A dispute alone does not end a claim with such a proof. Without `accountPhone` and `accountEmail` it also names
    /// the account.
    public var identity: IdentityProof?
}

/// The first version of ``RequestRecovery``, which gateways of earlier releases send. It names the account by a number
/// only.
@Message
public struct RequestRecoveryV1: PublicRequest {
    public typealias Reply = RecoveryRequested
    public static let type: MessageType = "recovery.request-recovery"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .once,
        errors: [
            .invalidPhone, .otpInvalid, .otpExpired, .otpLocked, .rateLimited, .recoveryInProgress, .claimantHasAccount,
            .identityTokenInvalid, .identityProviderUnavailable, .methodNotAvailable,
        ],
        replyCarriesToken: true)
    public static let route = HTTPRoute(
        .post, "/auth/recovery/request", .public, "Claims an account whose phone is lost.", success: 202,
        hidesItsTime: true)

    /// The number of the account, with a country code.
    @Field(.string(1...64)) public var accountPhone: String
    /// A `recovery` challenge for the number that the claimant has now.
    public var challengeId: Identifier
    /// The code that the claimant received.
    @Field(.otp) public var code: String
    /// The claimant's device.
    public var device: DeviceClaim
    /// Why, for the reviewers. It is kept encrypted while the case is open, and the owner never sees it.
    @Field(.string(0...500)) public var reason: String?
    /// A sign-in with Apple or Google. It proves the claim if it is linked to the account.
    ///
    /// A dispute alone does not end a claim with such a proof.
    public var identity: IdentityProof?
}

/// The claim is accepted, and its hold runs.
@Message
public struct RecoveryRequested: PublicReply {
    /// The recovery case.
    public var recoveryId: Identifier
    /// Needed to read and to cancel the case. It is sent only here.
    @Field(.string(1...128)) public var recoveryToken: String
    /// The status that the claimant sees.
    @Field(.recoveryStatus) public var status: String
    /// When the hold ends.
    public var holdUntil: Timestamp
    /// Needed in `device.secret` to complete the recovery. It is sent only here.
    @Field(.string(1...128)) public var deviceSecret: String?
}
