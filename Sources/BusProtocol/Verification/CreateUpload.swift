import JSONText

/// Promises an upload: the answer says where the app sends the picture, past the gateway.
///
/// A picture of a verification belongs to the person's session that waits for it. Pictures of a recovery have routes of
/// their own, since a claimant proves their number first.
@Message
public struct CreateUpload: PublicRequest {
    public typealias Reply = UploadCreated
    public static let type: MessageType = "verification.create-upload"
    public static let rules = MessageRules(
        service: .verification, callers: [.gateway], effect: .once,
        errors: [
            .unauthorized, .validationFailed, .unsupportedMediaType, .bodyTooLarge, .verificationClosed, .rateLimited,
        ],
        replyCarriesToken: true)
    public static let route = HTTPRoute(
        .post, "/media", .user, "Asks for an address to upload a picture to.", success: 201)

    /// What the picture is for: the person's profile, or a verification by a photo or by a document.
    @Field(.open(1...64, "profile_photo", "verification", "document")) public var kind: String
    /// Which side of a document the picture shows. Missing is `front`. Other pictures have one side only.
    @Field(.values("front", "back"), inExamples: false) public var side: String?
    /// The type of the picture: `image/jpeg` or `image/png`. Others are refused with 415.
    @Field(.string(1...100), example: "image/jpeg") public var contentType: String
    /// The length of the picture in bytes, at most 8 MiB. A longer one is refused with 413.
    @Field(.integer(1...1_000_000_000_000), example: 204_800) public var length: Int64
}

/// Where to send a picture.
@Message
public struct UploadCreated: PublicReply {
    /// The picture, for later requests.
    public var mediaId: Identifier
    /// Where to send the bytes by PUT, once, with the announced `Content-Type` and `Content-Length`: an address, or a path at the address of the API. It is a secret.
    @Field(
        .string(1...4096),
        example:
            "https://api.example.com/uploads/0193c0de-7a1e-7c5b-9d2f-3e4a5b6c7d8e?type=image/jpeg&length=204800&signature=c2ln"
    ) public var uploadUrl: String
    /// Until when the upload may begin.
    public var expiresAt: Timestamp
}
