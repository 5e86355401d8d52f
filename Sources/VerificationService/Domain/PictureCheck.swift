import BusProtocol
import ImageReading

/// Looks at the bytes of an upload before they are kept.
enum PictureCheck {
    /// The picture as it is kept: without metadata about a person, a place or a camera. The check takes up to 2 s.
    ///
    /// - Throws: ``BusError`` if the bytes are no picture, or not of the announced type.
    static func checked(_ bytes: [UInt8], contentType: String) throws(BusError) -> [UInt8] {
        do {
            let kind = try ImageReader.read(bytes, deadline: .now + .seconds(2)).kind
            guard kind == (contentType == "image/png" ? .png : .jpeg) else {
                throw BusError(.imageUnreadable, "The picture has another content type than announced.")
            }
            return try ImageStripper.strip(bytes)
        } catch let error as BusError {
            throw error
        } catch {
            throw BusError(.imageUnreadable, "\(error)")
        }
    }
}
