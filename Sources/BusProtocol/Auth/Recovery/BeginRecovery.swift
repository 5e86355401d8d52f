import JSONText

/// Starts a recovery. In one transaction, auth consumes the claimant's `recovery` challenge, looks up the account and
/// freezes it.
///
/// A repetition for the same case gets the same reply. A number or address that has an account cannot claim another one:
/// `claimant_has_account`. While the case is open, it opens no new account.
///
/// An account with a number is reached by that alone, and its claimant proves a number. A claimant who proves only an
/// address that is not the account's own needs another proof: a mailbox costs nothing. Otherwise the reply is that of an
/// account which does not exist.
@Message
public struct BeginRecovery: BusRequest {
    public typealias Reply = RecoveryBegun
    public static let type: MessageType = "auth.begin-recovery"
    public static let version: UInt16 = 2
    public static let rules = MessageRules(
        service: .auth, callers: [.recovery], effect: .idempotent,
        errors: [
            .invalidPhone, .otpInvalid, .otpExpired, .otpLocked, .claimantHasAccount, .identityTokenInvalid,
            .identityProviderUnavailable, .methodNotAvailable, .validationFailed,
        ])

    /// Chosen by recovery; the same in every repetition.
    public var caseID: Identifier
    /// The number of the claimed account, in any spelling.
    @Field(.string(1...64)) public var accountPhone: String?
    /// The email address of the claimed account, instead of a number.
    @Field(.string(1...254)) public var accountEmail: String?
    /// The challenge for the number or the address that the claimant has now.
    public var challengeID: Identifier
    /// The code that the claimant received.
    @Field(.otp) public var code: String
    /// The claimant's device.
    public var device: DeviceClaim
    /// How long the freeze lasts at most if nobody lifts it. It lasts at least as long as auth's own hold.
    @Field(.integer(1...7_776_000)) public var freezeSeconds: Int64
    /// It is a proof if it is linked to the account. The reply is the same for an identity that is not linked as for
    /// none. Without a number and an address it names the account.
    public var identity: IdentityProof?
}

/// The first version of ``BeginRecovery``, which recovery of earlier releases sends. It names the account by a number only.
@Message
public struct BeginRecoveryV1: BusRequest {
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
/// References are keyed hashes that only auth can make. No number and no address can be read from them.
@Message
public struct RecoveryBegun: BusReply {
    /// The recovery case.
    public var caseID: Identifier
    /// The account; missing if there is none to claim. The case is then a decoy.
    public var accountID: Identifier?
    /// The reference of the claimed number, address or identity, with or without an account.
    @Field(.string(1...128)) public var accountReference: String
    /// The reference of the number or address that the claimant proved.
    @Field(.string(1...128)) public var claimantReference: String
    /// The reference of the claimant's mailbox, however its address is spelled; missing for a number, and for an address
    /// of which another spelling may be another person.
    @Field(.string(1...128)) public var claimantMailbox: String?
    /// References of the device's secret and of the identity that the claimant showed, whether or not they are the
    /// account's.
    @Field(.string(1...128), count: 0...2) public var claimantProofs: [String]?
    /// `+1 (***) ***-1234` or `a…@e…`, for the owner's notification.
    @Field(.string(1...64), example: "+46 (***) ***-4567") public var maskedClaimantPhone: String
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
