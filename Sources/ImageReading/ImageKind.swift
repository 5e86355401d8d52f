/// The kind of a file, by its first bytes and never by its name.
package enum ImageKind: String, Sendable, Hashable, CaseIterable {
    /// A JPEG file. It can be read.
    case jpeg
    /// A PNG file. It can be read.
    case png
    /// A HEIF file with HEVC in it. iPhones store pictures like this.
    case heic
    /// A HEIF file with AV1 in it.
    case avif
    /// A GIF file.
    case gif
    /// A WebP file.
    case webp
    /// Anything else.
    case other

    /// Looks at the first bytes of a file; 32 are enough.
    package init(of bytes: [UInt8]) {
        func has(_ sought: [UInt8], at offset: Int = 0) -> Bool { bytes.dropFirst(offset).starts(with: sought) }
        self =
            if has([0xff, 0xd8, 0xff]) {
                .jpeg
            } else if has(PNGChunks.signature) {
                .png
            } else if has(Array("GIF8".utf8)) {
                .gif
            } else if has(Array("RIFF".utf8)), has(Array("WEBP".utf8), at: 8) {
                .webp
            } else if has(Array("ftyp".utf8), at: 4) {
                Self.brands(of: bytes)
            } else {
                .other
            }
    }

    /// The kind of an ISO base media file, by its first brand for a kind of picture. The main brand comes first, but
    /// may be a general one.
    private static func brands(of bytes: [UInt8]) -> ImageKind {
        for start in [8, 16, 20, 24, 28] where start + 4 <= bytes.count {
            switch String(decoding: bytes[start..<start + 4], as: UTF8.self) {
            case "avif", "avis": return .avif
            case "heic", "heix", "hevc", "hevx", "heim", "heis": return .heic
            default: continue
            }
        }
        return .other
    }

    /// Whether ``ImageReader`` reads it.
    package var isReadable: Bool { self == .jpeg || self == .png }
}
