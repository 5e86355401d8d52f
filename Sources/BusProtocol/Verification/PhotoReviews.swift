import JSONText

/// Lists the photos of profiles that wait for a reviewer, the oldest first.
@Message
public struct ListPhotoReviews: PublicRequest {
    public typealias Reply = PhotoReviewQueue
    public static let type: MessageType = "verification.list-photo-reviews"
    public static let rules = MessageRules(
        service: .verification, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public static let route = HTTPRoute(.get, "/admin/photos", .staff, "The photos that wait for a reviewer.")
}

/// The answer to ``ListPhotoReviews``.
@Message
public struct PhotoReviewQueue: PublicReply {
    /// At most 100.
    @Field(count: 0...100) public var photos: [PhotoReview]
}

/// A photo of a profile as a reviewer sees it. Nothing in it identifies the account.
@Message
public struct PhotoReview: PublicReply {
    /// The picture.
    public var mediaId: Identifier
    /// When the person began to upload it.
    public var uploadedAt: Timestamp
    /// Where to see the photo for a minute. Missing in the queue.
    @Field(
        .string(1...2048),
        example: "https://api.example.com/photos/0193c0de-7a1e-7c5b-9d2f-3e4a5b6c7d8e?expires=1764201600&signature=c2ln"
    ) public var photoUrl: String?
}

/// Shows one photo to a reviewer. Each look is in the audit trail.
@Message
public struct GetPhotoReview: PublicRequest {
    public typealias Reply = PhotoReview
    public static let type: MessageType = "verification.get-photo-review"
    public static let rules = MessageRules(
        service: .verification, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .get, "/admin/photos/{mediaId}", .staff, "One photo that waits for a reviewer.", carriesToken: true)

    /// The picture.
    @Field(from: .path("mediaId")) public var mediaId: Identifier
}

/// A reviewer decides on a photo. Its owner is told of a refusal.
@Message
public struct DecidePhoto: PublicRequest {
    public typealias Reply = NoContent
    public static let type: MessageType = "verification.decide-photo"
    public static let rules = MessageRules(
        service: .verification, callers: [.gateway], effect: .once, errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .post, "/admin/photos/{mediaId}/decide", .staff, "Decides on a photo.", carriesToken: true)

    /// The picture.
    @Field(from: .path("mediaId")) public var mediaId: Identifier
    /// What the reviewer found.
    @Field(.values("approved", "refused"), example: "approved") public var verdict: String
}
