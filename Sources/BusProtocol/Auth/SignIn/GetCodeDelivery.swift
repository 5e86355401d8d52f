import JSONText

/// Tells whether a code is on its way. It is the same for a phone with an account and for one
/// without. A challenge is known for a day.
@Message
public struct GetCodeDelivery: PublicRequest {
    public typealias Reply = CodeDelivery
    public static let type: MessageType = "auth.get-code-delivery"
    public static let rules = MessageRules(service: .auth, callers: [.gateway], effect: .read, errors: [.notFound])
    public static let route = HTTPRoute(
        .get, "/auth/otp/{challengeId}", .public, "Tells whether the code was delivered.")

    @Field(from: .path("challengeId")) public var challengeId: Identifier
}

/// What became of a code.
@Message
public struct CodeDelivery: PublicReply {
    /// `sent`: a provider took it; `failed`: it was given up, and does not count against the phone.
    @Field(.values("queued", "sent", "failed")) public var delivery: String
    /// Until another one may be asked for, where no other limit stands against it.
    @Field(.integer(0...86_400)) public var resendAfterSeconds: Int64
    /// 0 once the code is used, replaced or dead.
    @Field(.integer(0...3600)) public var expiresInSeconds: Int64
}
