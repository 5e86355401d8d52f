/// Limits on the cost of reading a picture.
package struct ImageLimits: Sendable, Hashable {
    /// The most bytes of a file.
    package var bytes: Int
    /// The most pixels. The memory grows with them: up to one byte a pixel for a PNG, and 10 bytes for every 64 samples
    /// of a JPEG.
    package var pixels: Int
    /// The most scans of a JPEG. A progressive JPEG has some 10.
    package var scans: Int
    /// The most steps. One step is a Huffman code, a block of a JPEG, or two bytes of a row of a PNG.
    package var work: Int

    /// Takes all limits.
    package init(bytes: Int = 8 << 20, pixels: Int = 40_000_000, scans: Int = 100, work: Int = 100_000_000) {
        (self.bytes, self.pixels, self.scans, self.work) = (bytes, pixels, scans, work)
    }

    /// 8 MiB, 40 megapixels, 100 scans, and less than 2 seconds.
    package static let standard = ImageLimits()

    /// The most pixels of a side. The format of JPEG allows no more, and the limit keeps a row of a PNG small.
    static let side = 65_535

    func check(width: Int, height: Int) throws(ImageError) {
        guard width > 0, height > 0 else { throw .damaged("a side has no pixels") }
        guard width <= Self.side, height <= Self.side, width * height <= pixels else {
            throw .tooManyPixels(limit: pixels)
        }
    }
}

/// The work that is left for a picture.
struct WorkBudget {
    private var left: Int
    private var untilClock = interval
    /// Whether the deadline passed. The compiler knows the size of a closure, but not that of an instant. An instant
    /// here made each step slower.
    private let isOver: (@Sendable () -> Bool)?
    private static let interval = 1 << 18

    init(_ steps: Int, until deadline: ContinuousClock.Instant?) {
        left = steps
        if let deadline { isOver = { deadline <= ContinuousClock.now } } else { isOver = nil }
    }

    /// Counts steps. Every quarter million of them asks the clock, too.
    @inline(__always) mutating func spend(_ steps: Int) throws(ImageError) {
        left -= steps
        untilClock -= steps
        if left < 0 || untilClock < 0 { try look() }
    }

    private mutating func look() throws(ImageError) {
        guard left >= 0 else { throw .tooMuchWork }
        untilClock = Self.interval
        if let isOver, isOver() { throw .deadlinePassed }
    }
}
