import JSONText

/// Opens the door of a recovery: consumes the claimant's `recovery` challenge, looks for the account and freezes it, in
/// one transaction. Sent again for the same case, it is answered as the first time. A number that has an account of its own
/// claims no other one: `claimant_has_account`. While the case is open the number opens no new one.
public struct BeginRecovery: BusRequest {
    public typealias Reply = RecoveryBegun
    public static let type: MessageType = "auth.begin-recovery"
    public static let schema = JSONSchema.object([
        .required("caseID", .uuid), .required("accountPhone", .string(1...64)), .required("challengeID", .uuid),
        .required("code", .string(.init(length: 6...6, format: .otp))), .required("device", DeviceClaim.schema),
        .required("freezeSeconds", .integer(1...7_776_000)), .optional("identity", IdentityProof.schema),
    ])
    public static let rules = MessageRules(
        service: .auth, callers: [.recovery], effect: .idempotent,
        errors: [
            .invalidPhone, .otpInvalid, .otpExpired, .otpLocked, .claimantHasAccount, .identityTokenInvalid,
            .identityProviderUnavailable,
        ])

    /// Chosen by recovery; the same in every repetition.
    public var caseID: Identifier
    /// The number of the account that is asked for, in any spelling.
    public var accountPhone: String
    /// Of the `recovery` challenge for the number that the claimant holds now.
    public var challengeID: Identifier
    public var code: String
    public var device: DeviceClaim
    /// How long the freeze lasts at the most, should nobody lift it. Auth makes it no shorter than its own hold.
    public var freezeSeconds: Int64
    /// A proof where it is linked to the account. Of one that is not, the answer is the same as without.
    public var identity: IdentityProof?

    public init(
        caseID: Identifier, accountPhone: String, challengeID: Identifier, code: String, device: DeviceClaim,
        freezeSeconds: Int64, identity: IdentityProof? = nil
    ) {
        self.caseID = caseID
        self.accountPhone = accountPhone
        self.challengeID = challengeID
        self.code = code
        self.device = device
        self.freezeSeconds = freezeSeconds
        self.identity = identity
    }
}

/// What recovery must know of a claim. References are auth's own, opaque and keyed: no number can be read from them.
public struct RecoveryBegun: BusReply {
    public static let schema = JSONSchema.object([
        .required("caseID", .uuid), .optional("accountID", .uuid), .required("accountReference", .string(1...128)),
        .required("claimantReference", .string(1...128)), .required("maskedClaimantPhone", .string(1...64)),
        .optional("platform", .string(1...32)), .optional("hasRecentSignIn", .boolean),
        .optional("proof", .string(1...32)), .optional("isStaff", .boolean), .optional("isDormant", .boolean),
    ])
    public var caseID: Identifier
    /// The account; `nil` where no account has the number, and the case is a decoy from then on.
    public var accountID: Identifier?
    /// Of the number that was asked for, with or without an account.
    public var accountReference: String
    /// Of the number that the claimant proved.
    public var claimantReference: String
    /// `+1 (***) ***-1234`, for the owner's notification.
    public var maskedClaimantPhone: String
    /// Of the claimant's device.
    public var platform: String?
    /// Somebody signed in to the account by a code within a day: its number is in use.
    public var hasRecentSignIn: Bool?
    /// What of the account the claimant has shown that a stranger cannot: `device` (a known one's secret), `linked_identity` or
    /// `former_number`; an open set.
    public var proof: String?
    /// The account is of staff.
    public var isStaff: Bool?
    /// The account was not used for as long as the operator calls sleep.
    public var isDormant: Bool?

    public init(
        caseID: Identifier, accountID: Identifier?, accountReference: String, claimantReference: String,
        maskedClaimantPhone: String, platform: String? = nil, hasRecentSignIn: Bool? = nil, proof: String? = nil,
        isStaff: Bool? = nil, isDormant: Bool? = nil
    ) {
        self.caseID = caseID
        self.accountID = accountID
        self.accountReference = accountReference
        self.claimantReference = claimantReference
        self.maskedClaimantPhone = maskedClaimantPhone
        self.platform = platform
        self.hasRecentSignIn = hasRecentSignIn
        self.proof = proof
        self.isStaff = isStaff
        self.isDormant = isDormant
    }
}
