import ImageReading

/// A smaller size of a photo of a profile.
enum PhotoSize: String, Sendable, CaseIterable {
    case small, medium

    /// The most pixels of a side.
    var side: Int { self == .small ? 320 : 960 }

    /// The arguments for `vipsthumbnail`: turn the photo upright, change its colours to sRGB, and write pixels without
    /// metadata.
    var arguments: [String] {
        [
            "stdin", "--size", "\(side)x\(side)>", "--export-profile", "srgb", "--vips-concurrency=1",
            "--vips-disc-threshold=1g", "--output", ".jpg[strip,Q=80,background=255]",
        ]
    }

    /// Why a picture from `vipsthumbnail` is not this size of a photo.
    enum Refusal: Error, Equatable { case noJPEG, tooLarge }

    /// Checks a picture that was made from a photo.
    ///
    /// - Parameter length: that of the photo, in bytes.
    /// - Returns: the picture as it is kept; `nil` if the photo itself has no more bytes.
    func checked(_ bytes: [UInt8], insteadOf length: Int) throws -> [UInt8]? {
        let report = try ImageReader.read(bytes, deadline: .now + .seconds(2))
        guard report.kind == .jpeg else { throw Refusal.noJPEG }
        guard max(report.width, report.height) <= side else { throw Refusal.tooLarge }
        let picture = try ImageStripper.strip(bytes)
        return picture.count < length ? picture : nil
    }
}
