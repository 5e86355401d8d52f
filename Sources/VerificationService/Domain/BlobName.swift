import BusProtocol

/// The name under which the bytes of a picture or of a smaller size are stored. It is the picture's ID, followed by a
/// dot and the size for a smaller size.
struct BlobName: Sendable, Hashable, CustomStringConvertible {
    let media: Identifier
    /// `nil` for the picture as it came.
    let size: PhotoSize?

    init(_ media: Identifier, _ size: PhotoSize? = nil) { (self.media, self.size) = (media, size) }

    var description: String { size.map { "\(media).\($0.rawValue)" } ?? media.description }

    /// The picture to which a name belongs, with any text after the dot; `nil` if the name is not a picture's.
    static func media(of name: some StringProtocol) -> Identifier? {
        name.split(separator: ".", maxSplits: 1).first.flatMap { Identifier(String($0)) }
    }
}
