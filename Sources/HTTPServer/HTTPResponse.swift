/// A response. The server adds `Content-Length` or `Transfer-Encoding`, `Date` and, before it closes, `Connection`.
package struct HTTPResponse: Sendable, Equatable {
    /// The HTTP status code.
    package var status: Int
    /// The header fields, without those that the server adds.
    package var headers: HTTPHeaders
    /// The body. The server does not send it for `HEAD`, 204 and 304. For `HEAD` it still sends its length.
    package var body: [UInt8]
    /// The later parts of the body. If they are set, the response is sent in chunks, `body` first.
    package var rest: HTTPBodyRest?

    /// Makes a response from its parts.
    package init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [], rest: HTTPBodyRest? = nil) {
        (self.status, self.headers, self.body, self.rest) = (status, headers, body, rest)
    }
}
