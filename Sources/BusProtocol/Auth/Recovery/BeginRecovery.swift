import JSONText

/// Starts a recovery. In one transaction, auth consumes the claimant's `recovery` challenge, looks up the account and
/// freezes it.
///
/// A repetition for the same case gets the same reply. A number that has an account cannot claim another one:
/// `claimant_has_account`. While the case is open, the claimant's number opens no new account.
@Message
public struct BeginRecovery: BusRequest {
    public typealias Reply = RecoveryBegun
    public static let type: MessageType = "auth.begin-recovery"
    public static let rules = MessageRules(
        service: .auth, callers: [.recovery], effect: .idempotent,
        errors: [
            .invalidPhone, .otpInvalid, .otpExpired, .otpLocked, .claimantHasAccount, .identityTokenInvalid,
            .identityProviderUnavailable, .methodNotAvailable,
        ])

    /// Chosen by recovery; the same in every repetition.
    public var caseID: Identifier
    /// The number of the claimed account, in any spelling.
    @Field(.string(1...64)) public var accountPhone: String
    /// The `recovery` challenge for the number that the claimant has now.
    public var challengeID: Identifier
    /// The code that the claimant received.
    @Field(.otp) public var code: String
    /// The claimant's device.
    public var device: DeviceClaim
    /// How long the freeze lasts at most if nobody lifts it. It lasts at least as long as auth's own hold.
    @Field(.integer(1...7_776_000)) public var freezeSeconds: Int64
    /// It is a proof if it is linked to the account. The reply is the same for an identity that is not linked as for
    /// none.
    public var identity: IdentityProof?
}

/// What recovery must know about a claim.
///
/// References are keyed hashes that only auth can make. No number can be read from them.
@Message
public struct RecoveryBegun: BusReply {
    /// The recovery case.
    public var caseID: Identifier
    /// The account; missing if no account has the number. The case is then a decoy.
    public var accountID: Identifier?
    /// The reference of the claimed number, with or without an account.
    @Field(.string(1...128)) public var accountReference: String
    /// The reference of the number that the claimant proved.
    @Field(.string(1...128)) public var claimantReference: String
    /// `+1 (***) ***-1234`, for the owner's notification.
    @Field(.string(1...64)) public var maskedClaimantPhone: String
    /// The platform of the claimant's device.
    @Field(.string(1...32)) public var platform: String?
    /// Somebody signed in to the account with a code within the last day, so its number is in use.
    public var hasRecentSignIn: Bool?
    /// What the claimant has shown that a stranger cannot: `device` (the secret of a known device), `linked_identity`
    /// or `former_number`; an open set.
    @Field(.string(1...32)) public var proof: String?
    /// The account belongs to a staff member.
    public var isStaff: Bool?
    /// The account was unused for longer than the operator's limit for dormant accounts.
    public var isDormant: Bool?
}
