/// Copies the segments of a JPEG that are needed to draw it.
enum JPEGStripper {
    static func strip(_ bytes: [UInt8]) throws(ImageError) -> [UInt8] {
        var segments = JPEGSegments(bytes)
        var (jfif, adobe): ([UInt8]?, [UInt8]?)
        var orientation: ImageOrientation?
        var rest: [UInt8] = []
        rest.reserveCapacity(bytes.count)
        while true {
            let segment = try segments.next()
            let payload = bytes[segment.payload]
            switch segment.marker {
            case JPEGSegment.end:
                var result: [UInt8] = [0xff, 0xd8]
                if let jfif { append(0xe0, jfif[...], to: &result) }
                if let orientation, orientation != .up {
                    append(0xe1, (JPEGApplication.exif + orientation.exif)[...], to: &result)
                }
                if let adobe { append(0xee, adobe[...], to: &result) }
                return result + rest + [0xff, JPEGSegment.end]
            case 0xe0 where payload.starts(with: JPEGApplication.jfif) && payload.count >= 14 && jfif == nil:
                // The last two bytes are the size of the thumbnail that follows. The copy has none.
                jfif = payload.prefix(12) + [0, 0]
            case 0xe1 where payload.starts(with: JPEGApplication.exif) && orientation == nil:
                orientation = ImageOrientation(exif: payload.dropFirst(JPEGApplication.exif.count)) ?? .up
            case 0xe2 where payload.starts(with: JPEGApplication.profile): append(0xe2, payload, to: &rest)
            case 0xee where payload.starts(with: JPEGApplication.adobe) && payload.count >= 12:
                // If there are several, the last one holds, as in the reader.
                adobe = Array(payload.prefix(12))
            case 0xe0...0xef, 0xf0...0xfe: break
            default:
                append(segment.marker, payload, to: &rest)
                rest += bytes[segment.scan]
            }
        }
    }

    private static func append(_ marker: UInt8, _ payload: ArraySlice<UInt8>, to result: inout [UInt8]) {
        let length = payload.count + 2
        result += [0xff, marker, UInt8(length >> 8), UInt8(length & 0xff)]
        result += payload
    }
}
