/// Why a message is not served. The connection closes after every one of them: what follows cannot be trusted.
public enum HTTPRefusal: Error, Sendable, Equatable {
    /// Against the grammar, or readable in two ways. The sentence names the rule, never the client's bytes.
    case malformed(String)
    case headersTooLarge
    case bodyTooLarge(limit: Int)
    /// A transfer coding other than `chunked`.
    case unsupportedTransferCoding
    case unsupportedVersion
    /// An `Expect` other than `100-continue`.
    case expectationFailed
    /// The client was too slow.
    case timeout

    /// HTTP status of the answer.
    public var status: Int {
        switch self {
        case .malformed: 400
        case .headersTooLarge: 431
        case .bodyTooLarge: 413
        case .unsupportedTransferCoding: 501
        case .unsupportedVersion: 505
        case .expectationFailed: 417
        case .timeout: 408
        }
    }

    /// One sentence for the client's author.
    public var sentence: String {
        switch self {
        case .malformed(let sentence): sentence
        case .headersTooLarge: "The request line and headers are larger than this server takes."
        case .bodyTooLarge(let limit): "The body is larger than \(limit) bytes."
        case .unsupportedTransferCoding: "The only transfer coding is chunked."
        case .unsupportedVersion: "This server speaks HTTP/1.1."
        case .expectationFailed: "The only expectation that can be met is 100-continue."
        case .timeout: "The request took too long to arrive."
        }
    }
}
