import BusProtocol

/// Looks at the bytes of an upload before they are kept.
enum PictureCheck {
    /// The picture as it is kept.
    ///
    /// - Throws: ``BusError`` if it is none, or none of the announced type.
    static func checked(_ bytes: [UInt8], contentType: String) throws(BusError) -> [UInt8] {
        let start: [UInt8] = contentType == "image/png" ? [0x89, 0x50, 0x4E, 0x47] : [0xFF, 0xD8, 0xFF]
        guard bytes.starts(with: start) else {
            throw BusError(.imageUnreadable, "The picture cannot be read. Please send another one.")
        }
        return bytes
    }
}
