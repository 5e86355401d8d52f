/// Copies the chunks of a PNG that are needed to draw it.
enum PNGStripper {
    /// The chunks to keep, and the most bytes that each may have; `nil` means any number.
    private static let kept: [String: Int?] = [
        "IHDR": 13, "PLTE": 768, "IDAT": nil, "tRNS": 256, "gAMA": 4, "cHRM": 32, "sRGB": 1, "iCCP": nil, "sBIT": 4,
    ]

    static func strip(_ bytes: [UInt8]) throws(ImageError) -> [UInt8] {
        var chunks = PNGChunks(bytes)
        var (head, rest): ([UInt8], [UInt8]) = (PNGChunks.signature, [])
        var orientation = ImageOrientation.up
        while true {
            let chunk = try chunks.next()
            let whole = bytes[chunk.data.lowerBound - 8..<chunk.data.upperBound + 4]
            switch chunk.type {
            case "IHDR": head += whole
            case "eXIf": orientation = ImageOrientation(exif: bytes[chunk.data]) ?? .up
            case "IEND": return head + (orientation == .up ? [] : Self.chunk("eXIf", orientation.exif)) + rest + whole
            default: if let most = kept[chunk.type], chunk.data.count <= most ?? .max { rest += whole }
            }
        }
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        func number(_ value: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        let body = Array(type.utf8) + data
        return number(UInt32(data.count)) + body + number(CRC32.of(body[...]))
    }
}
