import JSONText

/// Lists the verifications that wait for a reviewer, the oldest first.
@Message
public struct ListVerificationReviews: PublicRequest {
    public typealias Reply = VerificationReviewQueue
    public static let type: MessageType = "verification.list-reviews"
    public static let rules = MessageRules(
        service: .verification, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .get, "/admin/verification", .staff, "The verifications that wait for a reviewer.")
}

/// The answer to ``ListVerificationReviews``.
@Message
public struct VerificationReviewQueue: PublicReply {
    /// At most 100.
    @Field(count: 0...100) public var reviews: [VerificationReview]
}

/// A verification as a reviewer sees it. Nothing in it identifies the account.
@Message
public struct VerificationReview: PublicReply {
    /// The session.
    public var sessionId: Identifier
    /// When the person completed it.
    public var completedAt: Timestamp
    /// Then the capture is destroyed, and the person tries again.
    public var decideBefore: Timestamp
    /// How many of the person's sessions were completed, with this one.
    @Field(.integer(0...3), example: 1) public var attempts: Int64
    /// What the person is verified by. Missing is `photo`.
    @Field(.verificationTier) public var tier: String?
    /// Where to see the photo, or the front of the document, for a minute. Missing in the queue.
    @Field(.string(1...2048), example: "https://api.example.com/captures/0193c0de?signature=51ab")
    public var captureUrl: String?
    /// Where to see the back of the document for a minute. Missing in the queue, and where there is none.
    @Field(.string(1...2048), example: "https://api.example.com/captures/0193c0df?signature=52ab")
    public var backUrl: String?
}

/// Shows one verification to a reviewer. Each look is in the audit trail.
@Message
public struct GetVerificationReview: PublicRequest {
    public typealias Reply = VerificationReview
    public static let type: MessageType = "verification.get-review"
    public static let rules = MessageRules(
        service: .verification, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .get, "/admin/verification/{id}", .staff, "One verification that waits for a reviewer.", carriesToken: true)

    /// The session.
    @Field(from: .path("id")) public var sessionId: Identifier
}

/// A reviewer decides on a verification by a photo.
@Message
public struct DecideVerification: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "verification.decide"
    public static let rules = MessageRules(
        service: .verification, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .forbidden, .notFound, .verificationClosed])
    public static let route = HTTPRoute(
        .post, "/admin/verification/{id}/decide", .staff, "Decides on a verification by a photo.",
        carriesToken: true)

    /// The session.
    @Field(from: .path("id")) public var sessionId: Identifier
    /// What the reviewer found.
    @Field(.values("verified", "liveness_failed", "quality_too_low", "inconclusive"), example: "verified")
    public var verdict: String
}

/// A reviewer decides on a verification by a document. Its pictures are destroyed with the decision.
@Message
public struct DecideDocument: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "verification.decide-document"
    public static let rules = MessageRules(
        service: .verification, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .forbidden, .notFound, .verificationClosed])
    public static let route = HTTPRoute(
        .post, "/admin/verification/{id}/decide-document", .staff, "Decides on a verification by a document.",
        carriesToken: true)

    /// The session.
    @Field(from: .path("id")) public var sessionId: Identifier
    /// What the reviewer found.
    @Field(.values("verified", "rejected"), example: "verified") public var verdict: String
}
