import BusProtocol

/// Whether other people may see a photo.
enum Moderation: String, Sendable, CaseIterable {
    /// Nobody has looked at it yet.
    case pending
    case approved
    /// A reviewer refused it. Only its owner still sees it, for a while.
    case refused
}

/// A photo of a profile: a picture with a place.
struct Photo: Sendable, Equatable {
    let media: Identifier
    let moderation: Moderation
}

/// The order of a person's photos.
enum PhotoOrder {
    /// The change of the photos when a person sets their order.
    struct Change: Equatable {
        /// The pictures that lose their place. They are destroyed.
        let removed: [Identifier]
        /// All places, from the first.
        let places: [Photo]
    }

    /// - Parameters:
    ///   - wanted: the order that the person sends.
    ///   - photos: those with a place now.
    ///   - arrived: pictures for the profile that have arrived and have no place yet.
    ///   - moderation: the state of a picture that gets its first place.
    /// - Throws: ``BusError`` if a picture is named twice or has not arrived.
    static func change(
        to wanted: [Identifier], from photos: [Photo], arrived: [Identifier], new moderation: Moderation
    ) throws(BusError) -> Change {
        var places: [Photo] = []
        for (position, media) in wanted.enumerated() {
            if wanted[..<position].contains(media) {
                throw BusError(
                    .validationFailed, "Some fields need another look.",
                    errors: [
                        .init(
                            field: "photos.\(position)", code: "repeated",
                            message: "This picture is in the list twice.")
                    ])
            }
            if let photo = photos.first(where: { $0.media == media }) {
                places.append(photo)
            } else if arrived.contains(media) {
                places.append(Photo(media: media, moderation: moderation))
            } else {
                throw BusError(.notFound, "This picture has not arrived.")
            }
        }
        return Change(removed: photos.map(\.media).filter { !wanted.contains($0) }, places: places)
    }

    /// The photo that represents the person: the first one that others may see.
    static func shown(_ photos: [Photo]) -> Identifier? { photos.first { $0.moderation == .approved }?.media }
}
