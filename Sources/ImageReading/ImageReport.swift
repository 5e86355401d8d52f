/// The measures of a picture that was read to its end.
package struct ImageReport: Sendable, Hashable {
    /// JPEG or PNG.
    package var kind: ImageKind
    /// Pixels from left to right, as the picture stands upright.
    package var width: Int
    /// Pixels from top to bottom, as the picture stands upright.
    package var height: Int
    /// How the stored picture is turned to stand upright.
    package var orientation: ImageOrientation
    /// The mean of the luma, 0 to 255. Transparent pixels count as white.
    package var brightness: Double
    /// The share of squares of 8 by 8 pixels whose mean luma is at most 4, so that nobody can see anything there. 0 to
    /// 1.
    package var darkShare: Double
    /// The share of squares of 8 by 8 pixels whose mean luma is at least 251. 0 to 1.
    package var lightShare: Double
    /// The contrast of small details, divided by the contrast of details four times as large. It is measured as if the
    /// picture's shorter side had 480 pixels. Photographs have some 0.3 to 1; 0 is a flat surface.
    package var sharpness: Double

    init(kind: ImageKind, width: Int, height: Int, orientation: ImageOrientation, luma: LumaMeasures) {
        (self.kind, self.orientation) = (kind, orientation)
        (self.width, self.height) = orientation.isTurned ? (height, width) : (width, height)
        (brightness, darkShare, lightShare) = (luma.brightness, luma.darkShare, luma.lightShare)
        sharpness = luma.sharpness
    }
}

/// Reads a JPEG or a PNG to its end and measures it.
package enum ImageReader {
    /// Reads a picture. It runs on the caller's thread, so an event loop must call it on another thread. Under the
    /// standard limits it takes up to 2 seconds, and up to 64 MiB beside `bytes`.
    ///
    /// - Parameter deadline: the instant at which it gives up. It checks the time every few milliseconds.
    /// - Throws: every error of ``ImageError``. Bytes behind the end of the picture are no error.
    package static func read(
        _ bytes: [UInt8], limits: ImageLimits = .standard, deadline: ContinuousClock.Instant? = nil
    ) throws(ImageError) -> ImageReport {
        guard bytes.count <= limits.bytes else { throw .tooManyBytes(limit: limits.bytes) }
        let budget = WorkBudget(limits.work, until: deadline)
        switch ImageKind(of: bytes) {
        case .jpeg:
            var reader = JPEGReader(bytes, limits: limits, budget: budget)
            return try reader.read()
        case .png:
            var reader = PNGReader(bytes, limits: limits, budget: budget)
            return try reader.read()
        case let kind: throw .unsupportedKind(kind)
        }
    }
}

/// Removes everything from a JPEG or a PNG that drawing it does not need.
package enum ImageStripper {
    /// The same picture without data about a person, a place or a camera. The result has no comment, thumbnail, second
    /// picture or byte behind its end. Orientation and colour profile stay. It decodes no pixels, so none changes.
    ///
    /// Call it for a picture that ``ImageReader`` accepted: it looks at the structure of a file only.
    ///
    /// - Throws: ``ImageError`` if the structure of the file is broken.
    package static func strip(_ bytes: [UInt8]) throws(ImageError) -> [UInt8] {
        switch ImageKind(of: bytes) {
        case .jpeg: try JPEGStripper.strip(bytes)
        case .png: try PNGStripper.strip(bytes)
        case let kind: throw .unsupportedKind(kind)
        }
    }
}
