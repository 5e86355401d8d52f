import BusProtocol

/// How many pictures a person may upload, and which.
enum UploadLimits {
    /// The largest picture, in bytes.
    static let length: Int64 = 8 << 20
    /// Uploads of a person that have an address and have not arrived.
    static let open: Int64 = 10
    /// Uploads that a person begins on one day (UTC).
    static let aDay: Int64 = 60
    /// How long the address of an upload can be used.
    static let addressLife = Duration.seconds(15 * 60)
    /// The time from the first byte of a picture to its row. It is longer than a slow phone may take.
    static let arrival = Duration.seconds(10 * 60)

    /// Why a picture of this kind is not taken.
    static func refusal(contentType: String, length: Int64) -> BusError? {
        guard ["image/jpeg", "image/png"].contains(contentType) else {
            return BusError(.unsupportedMediaType, "Please send the picture as JPEG or PNG.")
        }
        guard length <= Self.length else {
            return BusError(.bodyTooLarge, "The picture is larger than 8 MiB. Please send a smaller one.")
        }
        return nil
    }

    /// Why a person may not begin one more upload.
    static func refusal(open: Int64, today: Int64, untilTomorrow: Duration) -> BusError? {
        guard today < aDay else {
            return BusError(
                .rateLimited, "You have uploaded many pictures today. Please come back tomorrow.",
                retryAfter: untilTomorrow)
        }
        guard open < Self.open else {
            return BusError(
                .rateLimited, "Too many of your uploads have not arrived yet. Please try again in a few minutes.",
                retryAfter: addressLife)
        }
        return nil
    }
}
