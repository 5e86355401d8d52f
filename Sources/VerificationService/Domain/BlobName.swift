import BusProtocol

/// The name of the bytes of a picture, or of a smaller size of it: the picture's ID, and behind a dot the size.
struct BlobName: Sendable, Hashable, CustomStringConvertible {
    let media: Identifier
    /// `nil` for the picture as it came.
    let size: PhotoSize?

    init(_ media: Identifier, _ size: PhotoSize? = nil) { (self.media, self.size) = (media, size) }

    var description: String { size.map { "\(media).\($0.rawValue)" } ?? media.description }

    /// The picture to which a name belongs, whatever stands behind its dot; `nil` if it is none of a picture.
    static func media(of name: some StringProtocol) -> Identifier? {
        name.split(separator: ".", maxSplits: 1).first.flatMap { Identifier(String($0)) }
    }
}
