import BusProtocol

/// The order of a person's photos.
enum PhotoOrder {
    /// What becomes of the photos when a person sets their order.
    struct Change: Equatable {
        /// The pictures that lose their place, and with it everything.
        let removed: [Identifier]
        /// All places, from the first.
        let places: [Identifier]
    }

    /// - Parameters:
    ///   - wanted: the order that the person sends.
    ///   - photos: those with a place now.
    ///   - arrived: pictures for the profile that have arrived and have no place yet.
    /// - Throws: ``BusError`` if a picture is named twice or has not arrived.
    static func change(
        to wanted: [Identifier], from photos: [Identifier], arrived: [Identifier]
    ) throws(BusError) -> Change {
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
            if !photos.contains(media), !arrived.contains(media) {
                throw BusError(.notFound, "This picture has not arrived.")
            }
        }
        return Change(removed: photos.filter { !wanted.contains($0) }, places: wanted)
    }
}
