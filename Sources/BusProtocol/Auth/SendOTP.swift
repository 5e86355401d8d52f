import JSONText

/// Sends a code to a phone (`POST /auth/otp/send`). The answer tells nothing of whether the phone has an account.
/// `invalid_phone` is also what is no number that gets SMS, and what is of a country that the operator does not serve.
public struct SendOTP: BusRequest {
    public typealias Reply = OTPSent
    public static let type: MessageType = "auth.send-otp"
    public static let schema = JSONSchema.object([
        .required("phone", .string(1...64), "In any common spelling, with a country code"),
        .optional("device", .object([.required("id", .uuid), .required("secret", .string(1...128))])),
        .optional("linkToken", .string(1...256)),
        .optional("purpose", .values("login", "recovery", "change_phone")),
        .optional("recoveryId", .uuid, "The case that the code is to complete, with purpose `recovery`"),
        .optional(
            "accountPhone", .string(1...64),
            "The number of the account that is to be recovered, with purpose `recovery`: the SMS names its last digits"),
        .optional(
            "undoes", .values("phone_change"), "What the code is to take back; it has this purpose then and no other"),
        .optional("replaces", .uuid, "The challenge of another number that this asker gives up: its code is void"),
    ])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once,
        errors: [
            .invalidPhone, .rateLimited, .otpLocked, .validationFailed, .linkTokenExpired, .unauthorized,
            .reauthenticationRequired, .accountFrozen, .smsUnavailable,
        ])

    public var phone: String
    public var device: Proof?
    /// Of a social sign-in: the code links its identity to the phone's account. With purpose `login` only.
    public var linkToken: String?
    /// `login` where it is missing; `change_phone` belongs to the session that asks.
    public var purpose: String?
    /// The recovery that the code is to complete, and nothing else. With purpose `recovery` only.
    public var recoveryId: Identifier?
    /// The account whose recovery the code begins or completes, and no other's. With purpose `recovery` only.
    public var accountPhone: String?
    /// `phone_change`: a code for ``UndoPhoneChange``, in the place of `purpose`.
    public var undoes: String?
    /// Void from now on, where the same asker asked for it.
    public var replaces: Identifier?

    /// What a device proves itself with.
    public struct Proof: Codable, Sendable, Equatable {
        public var id: Identifier
        public var secret: String
        public init(id: Identifier, secret: String) { (self.id, self.secret) = (id, secret) }
    }

    public init(
        phone: String, device: Proof? = nil, linkToken: String? = nil, purpose: String? = nil,
        recoveryId: Identifier? = nil, accountPhone: String? = nil, undoes: String? = nil, replaces: Identifier? = nil
    ) {
        self.phone = phone
        self.device = device
        self.linkToken = linkToken
        self.purpose = purpose
        self.recoveryId = recoveryId
        self.accountPhone = accountPhone
        self.undoes = undoes
        self.replaces = replaces
    }
}

/// A code is on its way.
public struct OTPSent: PublicReply {
    public static let schema = JSONSchema.object([
        .required("challengeId", .uuid), .required("expiresInSeconds", .integer(1...3600)),
        .required("resendAfterSeconds", .integer(0...3600)), .required("codeLength", .integer(6...6)),
        .required("maskedPhone", .string(1...64)),
    ])
    public var challengeId: Identifier
    public var expiresInSeconds: Int64
    public var resendAfterSeconds: Int64
    public var codeLength: Int64
    /// The last four digits and the country code.
    public var maskedPhone: String

    public init(
        challengeId: Identifier, expiresInSeconds: Int64, resendAfterSeconds: Int64, codeLength: Int64 = 6,
        maskedPhone: String
    ) {
        self.challengeId = challengeId
        self.expiresInSeconds = expiresInSeconds
        self.resendAfterSeconds = resendAfterSeconds
        self.codeLength = codeLength
        self.maskedPhone = maskedPhone
    }
}
