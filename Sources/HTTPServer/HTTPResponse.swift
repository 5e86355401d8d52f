/// A response. The server adds `Content-Length` or `Transfer-Encoding`, `Date` and, before it closes, `Connection`.
public struct HTTPResponse: Sendable, Equatable {
    /// The HTTP status code.
    public var status: Int
    /// The header fields, without those that the server adds.
    public var headers: HTTPHeaders
    /// The body. The server does not send it for `HEAD`, 204 and 304. For `HEAD` it still sends its length.
    public var body: [UInt8]
    /// The later parts of the body. If they are set, the response is sent in chunks, `body` first.
    public var rest: HTTPBodyRest?

    /// Makes a response from its parts.
    public init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [], rest: HTTPBodyRest? = nil) {
        (self.status, self.headers, self.body, self.rest) = (status, headers, body, rest)
    }
}
