/// An answer. The server adds `Content-Length` or `Transfer-Encoding`, `Date` and, before it closes, `Connection`.
public struct HTTPResponse: Sendable, Equatable {
    public var status: Int
    public var headers: HTTPHeaders
    /// Left out on the wire for `HEAD`, 204 and 304; its length is told all the same for `HEAD`.
    public var body: [UInt8]
    /// Where it is set, the answer goes out in chunks, `body` first.
    public var rest: HTTPBodyRest?

    public init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [], rest: HTTPBodyRest? = nil) {
        (self.status, self.headers, self.body, self.rest) = (status, headers, body, rest)
    }
}
