import JSONText

/// Lets a code to an email address open the account. A `link_email` challenge of the same session proves the address.
@Message
public struct LinkEmail: PublicRequest {
    public typealias Reply = EmailLinked
    public static let type: MessageType = "auth.link-email"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once,
        errors: [
            .unauthorized, .otpInvalid, .otpExpired, .otpLocked, .reauthenticationRequired, .accountFrozen,
            .identityInUse, .providerAlreadyLinked,
        ])
    public static let route = HTTPRoute(
        .post, "/auth/email/link", .user, "Links an email address to the account.", carriesToken: true)

    /// The `link_email` challenge.
    public var challengeId: Identifier
    /// The code that the person received.
    @Field(.otp) public var code: String
}

/// The answer to ``LinkEmail``.
@Message
public struct EmailLinked: PublicReply {
    /// The address, masked so that only its owner recognises it: a…@e….
    @Field(.string(1...16)) public var maskedEmail: String
}

/// Unlinks the email address and ends the sessions that it opened. If none is linked, nothing changes.
@Message
public struct UnlinkEmail: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "auth.unlink-email"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .reauthenticationRequired, .accountFrozen, .lastWayIn])
    public static let route = HTTPRoute(.delete, "/auth/email", .user, "Unlinks the email address.")
}
