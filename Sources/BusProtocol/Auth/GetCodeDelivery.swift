import JSONText

/// Tells whether a code is on its way (`GET /auth/otp/{challengeId}`). It is the same for a phone with an account and for one
/// without. A challenge is known for a day.
public struct GetCodeDelivery: BusRequest {
    public typealias Reply = CodeDelivery
    public static let type: MessageType = "auth.get-code-delivery"
    public static let schema = JSONSchema.object([.required("challengeId", .uuid)])
    public static let rules = MessageRules(service: .auth, callers: [.gateway], effect: .read, errors: [.notFound])
    public var challengeId: Identifier
    public init(challengeId: Identifier) { self.challengeId = challengeId }
}

/// What became of a code.
public struct CodeDelivery: PublicReply {
    public static let schema = JSONSchema.object([
        .required("delivery", .values("queued", "sent", "failed")),
        .required("resendAfterSeconds", .integer(0...86_400)), .required("expiresInSeconds", .integer(0...3600)),
    ])
    /// `sent`: a provider took it; `failed`: it was given up, and does not count against the phone.
    public var delivery: String
    /// Until another one may be asked for, where no other limit stands against it.
    public var resendAfterSeconds: Int64
    /// 0 once the code is used, replaced or dead.
    public var expiresInSeconds: Int64

    public init(delivery: String, resendAfterSeconds: Int64, expiresInSeconds: Int64) {
        self.delivery = delivery
        self.resendAfterSeconds = resendAfterSeconds
        self.expiresInSeconds = expiresInSeconds
    }
}
