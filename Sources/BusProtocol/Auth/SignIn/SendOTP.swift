import JSONText

/// Sends a code to a phone. The reply does not reveal whether the phone has an account.
///
/// `invalid_phone` also means a number that cannot receive SMS, or a country that the operator does not serve.
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

    /// The number, in any common spelling with a country code.
    @Field(.string(1...64)) public var phone: String
    /// A known device, which proves itself.
    public var device: Proof?
    /// The token of a social sign-in. The code links its identity to the phone's account. Only with purpose `login`.
    @Field(.string(1...256)) public var linkToken: String?
    /// `login` by default. `change_phone` belongs to the session that asks.
    @Field(.codePurpose) public var purpose: String?
    /// The recovery that the code may complete; it is valid for nothing else. Only with purpose `recovery`.
    public var recoveryId: Identifier?
    /// The number of the account to recover, with purpose `recovery`. The SMS names its last digits.
    ///
    /// The code begins or completes a recovery of this account only.
    @Field(.string(1...64)) public var accountPhone: String?
    /// The email address of the account to recover, instead of its number. The SMS names it masked.
    @Field(.string(1...254)) public var accountEmail: String?
    /// What the code may undo. It is then valid for nothing else.
    @Field(.values("phone_change")) public var undoes: String?
    /// A challenge for another number that the caller gives up. Its code becomes invalid.
    ///
    /// It has an effect only if the same caller requested that challenge.
    public var replaces: Identifier?

    /// How a known device proves itself.
    @Message
    public struct Proof: MessageValue {
        /// The device.
        public var id: Identifier
        /// The secret that the device received with its first session.
        @Field(.string(1...128)) public var secret: String
    }
}

/// A code is on its way.
@Message
public struct OTPSent: PublicReply {
    /// The challenge, which the code is verified with.
    public var challengeId: Identifier
    /// How long the code is valid.
    @Field(.integer(1...3600)) public var expiresInSeconds: Int64
    /// Until another code may be requested.
    @Field(.integer(0...3600)) public var resendAfterSeconds: Int64
    /// Digits of the code.
    @Field(.integer(6...6)) public var codeLength: Int64 = 6
    /// The country code and the last four digits.
    @Field(.string(1...64)) public var maskedPhone: String
}
