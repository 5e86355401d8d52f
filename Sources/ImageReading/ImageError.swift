/// Why a picture is refused.
package enum ImageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// It is neither JPEG nor PNG.
    case unsupportedKind(ImageKind)
    /// It is JPEG or PNG, but uses a feature that the reader does not support, such as arithmetic coding. The text
    /// names the feature for engineers.
    case unsupported(String)
    /// The file ends before the picture does.
    case truncated
    /// The file breaks the rules of its format. The text names the rule for engineers, and contains nothing of the
    /// file.
    case damaged(String)
    /// It has more bytes than ``ImageLimits/bytes``.
    case tooManyBytes(limit: Int)
    /// It has more pixels than ``ImageLimits/pixels``, or a side has more than 65,535.
    case tooManyPixels(limit: Int)
    /// It is a JPEG with more scans than ``ImageLimits/scans``.
    case tooManyScans(limit: Int)
    /// Reading it costs more than ``ImageLimits/work``, so no honest program wrote it.
    case tooMuchWork
    /// The caller's deadline passed.
    case deadlinePassed

    /// A sentence that tells a person what to do about the error.
    package var description: String {
        switch self {
        case .unsupportedKind(.other): "This is no picture that can be read. Send a JPEG or a PNG."
        case .unsupportedKind(let kind): "Pictures of the kind \(kind.rawValue) cannot be read. Send a JPEG or a PNG."
        case .unsupported: "The picture is stored in an unusual way. Save it as an ordinary JPEG, and send that."
        case .truncated: "The picture is incomplete. Send it again."
        case .damaged: "The picture is damaged. Send another one."
        case .tooManyBytes(let limit): "The picture has more than \(limit) bytes. Send a smaller one."
        case .tooManyPixels(let limit): "The picture has more than \(limit) pixels. Send a smaller one."
        case .tooManyScans, .tooMuchWork, .deadlinePassed: "The picture takes too long to read. Send another one."
        }
    }
}
