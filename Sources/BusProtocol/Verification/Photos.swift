import JSONText

/// The person's own photos, in their order.
@Message
public struct GetPhotos: PublicRequest {
    public typealias Reply = PhotoList
    public static let type: MessageType = "verification.get-photos"
    public static let rules = MessageRules(
        service: .verification, callers: [.gateway], effect: .read, errors: [.unauthorized])
    public static let route = HTTPRoute(.get, "/users/me/photos", .user, "The person's photos, in their order.")
}

/// Sets the person's photos and their order. A photo that is left out is removed.
@Message
public struct PutPhotos: PublicRequest {
    public typealias Reply = PhotoList
    public static let type: MessageType = "verification.put-photos"
    public static let rules = MessageRules(
        service: .verification, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .validationFailed])
    public static let route = HTTPRoute(
        .put, "/users/me/photos", .user, "Sets the person's photos and their order.")

    /// The photos, the first one first: pictures that have arrived, or photos of before.
    @Field(count: 0...6) public var photos: [Identifier]
}

/// Removes one of the person's photos.
@Message
public struct DeletePhoto: PublicRequest {
    public typealias Reply = PhotoList
    public static let type: MessageType = "verification.delete-photo"
    public static let rules = MessageRules(
        service: .verification, callers: [.gateway], effect: .idempotent, errors: [.unauthorized])
    public static let route = HTTPRoute(
        .delete, "/users/me/photos/{mediaId}", .user, "Removes one of the person's photos.")

    /// The photo.
    @Field(from: .path("mediaId")) public var mediaId: Identifier
}

/// A person's photos.
@Message
public struct PhotoList: PublicReply {
    /// The photos in their order; the first one stands for the person.
    @Field(count: 0...6) public var photos: [Photo]

    /// A photo of a profile.
    @Message
    public struct Photo: MessageValue {
        /// The picture.
        public var mediaId: Identifier
        /// Where the photo is: an address, or a path at the address of the API. It stays the same for a day and works for one day more. With `&size=small` or `&size=medium` behind it, the photo has at most 320 or 960 pixels on a side where that size was made. It is for who may see the profile.
        @Field(
            .string(1...2048),
            example:
                "https://api.example.com/photos/0193c0de-7a1e-7c5b-9d2f-3e4a5b6c7d8e?expires=1764201600&signature=c2ln")
        public var url: String
        /// Whether others may see the photo: `pending` until somebody has looked at it, `approved`, or `refused`.
        @Field(.open(1...32, "pending", "approved", "refused"), example: "approved") public var state: String?
    }
}
