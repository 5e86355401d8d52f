import JSONText

/// Opens the door of a recovery: consumes the claimant's `recovery` challenge, looks for the account and freezes it, in
/// one transaction. Sent again for the same case, it is answered as the first time. A number that has an account of its own
/// claims no other one: `claimant_has_account`. While the case is open the number opens no new one.
@Message
public struct BeginRecovery: BusRequest {
    public typealias Reply = RecoveryBegun
    public static let type: MessageType = "auth.begin-recovery"
    public static let rules = MessageRules(
        service: .auth, callers: [.recovery], effect: .idempotent,
        errors: [
            .invalidPhone, .otpInvalid, .otpExpired, .otpLocked, .claimantHasAccount, .identityTokenInvalid,
            .identityProviderUnavailable,
        ])

    /// Chosen by recovery; the same in every repetition.
    public var caseID: Identifier
    /// The number of the account that is asked for, in any spelling.
    @Field(.string(1...64)) public var accountPhone: String
    /// Of the `recovery` challenge for the number that the claimant holds now.
    public var challengeID: Identifier
    @Field(.otp) public var code: String
    public var device: DeviceClaim
    /// How long the freeze lasts at the most, should nobody lift it. Auth makes it no shorter than its own hold.
    @Field(.integer(1...7_776_000)) public var freezeSeconds: Int64
    /// A proof where it is linked to the account. Of one that is not, the answer is the same as without.
    public var identity: IdentityProof?
}

/// What recovery must know of a claim. References are auth's own, opaque and keyed: no number can be read from them.
@Message
public struct RecoveryBegun: BusReply {
    public var caseID: Identifier
    /// The account; missing where no account has the number, and the case is a decoy from then on.
    public var accountID: Identifier?
    /// Of the number that was asked for, with or without an account.
    @Field(.string(1...128)) public var accountReference: String
    /// Of the number that the claimant proved.
    @Field(.string(1...128)) public var claimantReference: String
    /// `+1 (***) ***-1234`, for the owner's notification.
    @Field(.string(1...64)) public var maskedClaimantPhone: String
    /// Of the claimant's device.
    @Field(.string(1...32)) public var platform: String?
    /// Somebody signed in to the account by a code within a day: its number is in use.
    public var hasRecentSignIn: Bool?
    /// What of the account the claimant has shown that a stranger cannot: `device` (a known one's secret), `linked_identity` or
    /// `former_number`; an open set.
    @Field(.string(1...32)) public var proof: String?
    /// The account is of staff.
    public var isStaff: Bool?
    /// The account was not used for as long as the operator calls sleep.
    public var isDormant: Bool?
}
