import JSONText

/// Accepts texts of the plan that the person follows, such as terms of service. A repeated request changes nothing.
@Message
public struct AcceptTerms: PublicRequest {
    public typealias Reply = AcceptedTerms
    public static let type: MessageType = "profile.accept-terms"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .idempotent, errors: [.unauthorized, .validationFailed])
    public static let route = HTTPRoute(.post, "/users/me/consents", .user, "Accepts texts in their versions.")

    /// The texts that the person has seen and accepts.
    @Field(count: 1...8) public var documents: [TermsReference]
}

/// One version of a text.
@Message
public struct TermsReference: MessageValue {
    /// The key of the text.
    @Field(.string(1...64)) public var document: String
    /// Its version.
    @Field(.string(1...64), example: "2026-02") public var version: String
}

/// The answer to ``AcceptTerms``: all texts of the plan that the person has accepted.
@Message
public struct AcceptedTerms: PublicReply {
    /// The texts, in the order of the plan.
    @Field(count: 0...120) public var consents: [TermsConsent]
}

/// A text that a person accepted.
@Message
public struct TermsConsent: MessageValue {
    /// The key of the text.
    @Field(.string(1...64)) public var document: String
    /// Its version.
    @Field(.string(1...64), example: "2026-02") public var version: String
    /// When the person accepted it.
    public var acceptedAt: Timestamp
}
