import JSONText

/// Asks whether a code is on its way. The reply is the same for a phone with and without an account. A challenge is
/// known for a day.
@Message
public struct GetCodeDelivery: PublicRequest {
    public typealias Reply = CodeDelivery
    public static let type: MessageType = "auth.get-code-delivery"
    public static let rules = MessageRules(service: .auth, callers: [.gateway], effect: .read, errors: [.notFound])
    public static let route = HTTPRoute(
        .get, "/auth/otp/{challengeId}", .public, "Tells whether the code was delivered.")

    /// The challenge that the code belongs to.
    @Field(from: .path("challengeId")) public var challengeId: Identifier
}

/// The state of a code's delivery.
@Message
public struct CodeDelivery: PublicReply {
    /// `sent`: a provider accepted it. `failed`: the attempts ended, and the code does not count against the phone.
    @Field(.values("queued", "sent", "failed")) public var delivery: String
    /// Until another code may be requested, if no other limit applies.
    @Field(.integer(0...86_400)) public var resendAfterSeconds: Int64
    /// 0 once the code is used, replaced or no longer valid.
    @Field(.integer(0...3600)) public var expiresInSeconds: Int64
}
