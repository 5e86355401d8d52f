/// One marker of a JPEG, with its payload and its coded data.
struct JPEGSegment {
    /// The second byte of the marker.
    var marker: UInt8
    /// The bytes after the marker and its length.
    var payload: Range<Int>
    /// The coded data behind the header of a scan; empty for other markers.
    var scan: Range<Int>

    static let scanHeader: UInt8 = 0xda
    static let end: UInt8 = 0xd9
}

/// Walks along the markers of a JPEG, from the first to the end of the image. No other bytes may lie between segments.
struct JPEGSegments {
    private let bytes: [UInt8]
    private var position = 2

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next segment; the last is the end of the image.
    mutating func next() throws(ImageError) -> JPEGSegment {
        guard position < bytes.count else { throw .truncated }
        guard bytes[position] == 0xff else { throw .damaged("there are bytes between two markers") }
        // A marker may begin with any number of fill bytes.
        while position < bytes.count, bytes[position] == 0xff { position += 1 }
        guard position < bytes.count else { throw .truncated }
        let marker = bytes[position]
        position += 1
        if marker == JPEGSegment.end { return JPEGSegment(marker: marker, payload: 0..<0, scan: 0..<0) }
        guard marker >= 0xc0, !(0xd0...0xd8).contains(marker) else { throw .damaged("a marker is out of place") }
        guard position + 2 <= bytes.count else { throw .truncated }
        let length = Int(bytes[position]) << 8 | Int(bytes[position + 1])
        guard length >= 2 else { throw .damaged("a segment has no length") }
        guard position + length <= bytes.count else { throw .truncated }
        let payload = position + 2..<position + length
        position += length
        guard marker == JPEGSegment.scanHeader else {
            return JPEGSegment(marker: marker, payload: payload, scan: 0..<0)
        }
        try skipScan()
        return JPEGSegment(marker: marker, payload: payload, scan: payload.upperBound..<position)
    }

    /// Skips to the first marker that does not belong to the coded data.
    private mutating func skipScan() throws(ImageError) {
        while position + 1 < bytes.count {
            if bytes[position] == 0xff {
                let next = bytes[position + 1]
                if next != 0, !(0xd0...0xd7).contains(next) { return }
                position += 1
            }
            position += 1
        }
        throw .truncated
    }
}

/// Payloads of application segments that the reader and the stripper know.
enum JPEGApplication {
    static let jfif = Array("JFIF\0".utf8)
    static let exif = Array("Exif\0\0".utf8)
    static let profile = Array("ICC_PROFILE\0".utf8)
    static let adobe = Array("Adobe".utf8)
}
