/// How a stored picture is turned to stand upright: tag 0x0112 of Exif.
package enum ImageOrientation: UInt8, Sendable, Hashable, CaseIterable {
    /// As it is stored.
    case up = 1
    /// Mirrored left to right.
    case upMirrored
    /// Turned by 180 degrees.
    case down
    /// Mirrored top to bottom.
    case downMirrored
    /// Mirrored along the diagonal from the upper left.
    case leftMirrored
    /// Turned clockwise by 90 degrees.
    case right
    /// Mirrored along the diagonal from the upper right.
    case rightMirrored
    /// Turned counterclockwise by 90 degrees.
    case left

    /// Whether width and height change places.
    package var isTurned: Bool { rawValue >= Self.leftMirrored.rawValue }

    /// The orientation in the first directory of a block of Exif; `nil` if it has no readable one. It reads only that
    /// directory, so directories that lead to each other cost nothing.
    init?(exif: ArraySlice<UInt8>) {
        let tiff = Array(exif)
        guard tiff.count >= 8, tiff[0] == tiff[1], tiff[0] == UInt8(ascii: "I") || tiff[0] == UInt8(ascii: "M") else {
            return nil
        }
        let isLittle = tiff[0] == UInt8(ascii: "I")
        func number(_ offset: Int, _ length: Int) -> Int {
            (0..<length).reduce(0) { $0 << 8 | Int(tiff[isLittle ? offset + length - 1 - $1 : offset + $1]) }
        }
        let directory = number(4, 4)
        guard number(2, 2) == 42, directory <= tiff.count - 2 else { return nil }
        for index in 0..<number(directory, 2) {
            let entry = directory + 2 + 12 * index
            guard entry + 12 <= tiff.count else { return nil }
            guard number(entry, 2) == 0x0112 else { continue }
            guard number(entry + 2, 2) == 3, number(entry + 4, 4) == 1 else { return nil }
            self.init(rawValue: UInt8(truncatingIfNeeded: min(number(entry + 8, 2), 255)))
            return
        }
        return nil
    }

    /// A block of Exif with this orientation and nothing else.
    var exif: [UInt8] {
        Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, rawValue, 0, 0, 0, 0, 0, 0]
    }
}
