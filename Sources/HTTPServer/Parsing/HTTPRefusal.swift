/// Why the server refuses a message. It then closes the connection, since it cannot trust the bytes that follow.
package enum HTTPRefusal: Error, Sendable, Equatable {
    /// The message breaks the grammar or is ambiguous. The sentence names the rule, never the client's bytes.
    case malformed(String)
    /// The head exceeds `HTTPLimits.headBytes` or `HTTPLimits.headerCount`.
    case headersTooLarge
    /// The body is larger than `limit` bytes.
    case bodyTooLarge(limit: Int)
    /// A transfer coding other than `chunked`.
    case unsupportedTransferCoding
    /// A known HTTP version other than 1.0 and 1.1.
    case unsupportedVersion
    /// An `Expect` other than `100-continue`.
    case expectationFailed
    /// The client was too slow.
    case timeout

    /// The HTTP status of the response.
    package var status: Int {
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
    package var sentence: String {
        switch self {
        case .malformed(let sentence): sentence
        case .headersTooLarge: "The request line and headers are larger than this server accepts."
        case .bodyTooLarge(let limit): "The body is larger than \(limit) bytes."
        case .unsupportedTransferCoding: "This server supports the transfer coding chunked only."
        case .unsupportedVersion: "This server supports HTTP/1.1 only."
        case .expectationFailed: "This server supports the expectation 100-continue only."
        case .timeout: "The request took too long to arrive."
        }
    }
}
