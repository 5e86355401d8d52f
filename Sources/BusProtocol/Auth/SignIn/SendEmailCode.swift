import JSONText

/// Sends a code to an email address. The reply does not reveal whether the address has an account.
///
/// `GET /auth/otp/{challengeId}` tells whether the code was delivered, as for a code to a phone.
@Message
public struct SendEmailCode: PublicRequest {
    public typealias Reply = EmailCodeSent
    public static let type: MessageType = "auth.send-email-code"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once,
        errors: [
            .validationFailed, .rateLimited, .otpLocked, .unauthorized, .reauthenticationRequired, .accountFrozen,
            .emailUnavailable, .methodNotAvailable,
        ])
    public static let route = HTTPRoute(
        .post, "/auth/email/send", .anybody, "Sends a code to an email address.", success: 202, hidesItsTime: true)

    /// The address, at most 254 bytes. An international domain is written in its ASCII form (`xn--…`).
    ///
    /// The part before the @ keeps its case: `Anna@example.com` and `anna@example.com` are two addresses.
    @Field(.string(1...254)) public var email: String
    /// A known device, which proves itself.
    public var device: SendOTP.Proof?
    /// `login` by default. `link_email` belongs to the session that asks.
    @Field(.emailCodePurpose) public var purpose: String?
    /// The recovery that the code begins or completes. It is valid for nothing else. Only without `purpose`.
    public var recovery: Recovery?
    /// What the code may undo: the first number of an account, within 72 hours. It is then valid for nothing else. Only
    /// without `purpose` and `recovery`.
    @Field(.values("phone_change")) public var undoes: String?
    /// A challenge for another address that the caller gives up. Its code becomes invalid.
    ///
    /// It has an effect only if the same caller requested that challenge.
    public var replaces: Identifier?

    /// Says which recovery a code is for. An empty object is enough to begin one.
    @Message
    public struct Recovery: MessageValue {
        /// The email address of the account to recover. The email names it masked, and the code is for this account
        /// only.
        @Field(.string(1...254)) public var accountEmail: String?
        /// The recovery that the code may complete; it is valid for nothing else.
        public var recoveryId: Identifier?
    }
}

/// A code is on its way by email.
@Message
public struct EmailCodeSent: PublicReply {
    /// The challenge, which the code is verified with.
    public var challengeId: Identifier
    /// How long the code is valid.
    @Field(.integer(1...3600)) public var expiresInSeconds: Int64
    /// Until another code may be requested.
    @Field(.integer(0...3600)) public var resendAfterSeconds: Int64
    /// Digits of the code.
    @Field(.integer(6...6)) public var codeLength: Int64 = 6
    /// The address, masked so that only its owner recognises it: a…@e….
    @Field(.string(1...16)) public var maskedEmail: String
}
