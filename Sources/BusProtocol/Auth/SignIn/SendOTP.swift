import JSONText

/// Sends a code to a phone. The answer tells nothing of whether the phone has an account.
/// `invalid_phone` is also what is no number that gets SMS, and what is of a country that the operator does not serve.
@Message
public struct SendOTP: PublicRequest {
    public typealias Reply = OTPSent
    public static let type: MessageType = "auth.send-otp"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once,
        errors: [
            .invalidPhone, .rateLimited, .otpLocked, .validationFailed, .linkTokenExpired, .unauthorized,
            .reauthenticationRequired, .accountFrozen, .smsUnavailable,
        ])
    public static let route = HTTPRoute(
        .post, "/auth/otp/send", .anybody, "Sends a code to a phone.", success: 202, hidesItsTime: true)

    /// In any common spelling, with a country code.
    @Field(.string(1...64)) public var phone: String
    public var device: Proof?
    /// Of a social sign-in: the code links its identity to the phone's account. With purpose `login` only.
    @Field(.string(1...256)) public var linkToken: String?
    /// `login` where it is missing; `change_phone` belongs to the session that asks.
    @Field(.values("login", "recovery", "change_phone")) public var purpose: String?
    /// The recovery that the code is to complete, and nothing else. With purpose `recovery` only.
    public var recoveryId: Identifier?
    /// The number of the account that is to be recovered, with purpose `recovery`: the SMS names its last digits.
    ///
    /// The account whose recovery the code begins or completes, and no other's. With purpose `recovery` only.
    @Field(.string(1...64)) public var accountPhone: String?
    /// What the code is to take back; it has this purpose then and no other.
    ///
    /// What the code is to take back; it has this purpose then and no other.
    @Field(.values("phone_change")) public var undoes: String?
    /// The challenge of another number that this caller gives up: its code is void.
    ///
    /// Void from now on, where the same caller asked for it.
    public var replaces: Identifier?

    /// What a device proves itself with.
    @Message
    public struct Proof: MessageValue {
        public var id: Identifier
        @Field(.string(1...128)) public var secret: String
    }
}

/// A code is on its way.
@Message
public struct OTPSent: PublicReply {
    public var challengeId: Identifier
    @Field(.integer(1...3600)) public var expiresInSeconds: Int64
    @Field(.integer(0...3600)) public var resendAfterSeconds: Int64
    @Field(.integer(6...6)) public var codeLength: Int64 = 6
    /// The last four digits and the country code.
    @Field(.string(1...64)) public var maskedPhone: String
}
