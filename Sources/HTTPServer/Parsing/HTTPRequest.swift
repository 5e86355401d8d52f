/// The request line and headers of a request.
package struct HTTPRequestHead: Sendable, Equatable {
    /// The method as sent. Methods are case-sensitive.
    package var method: String
    /// The path without the query, still percent-encoded. It starts with `/`, or is `*` for `OPTIONS *`.
    package var path: String
    /// The part after the first `?`, still percent-encoded; `nil` if there is no `?`.
    package var query: String?
    /// The x of HTTP/1.x: 0 or 1.
    package var minorVersion: Int
    /// The header fields.
    package var headers: HTTPHeaders

    /// Makes a head from its parts, as the parser or a test does.
    package init(
        method: String, path: String, query: String? = nil, minorVersion: Int = 1, headers: HTTPHeaders = HTTPHeaders()
    ) {
        (self.method, self.path, self.query) = (method, path, query)
        (self.minorVersion, self.headers) = (minorVersion, headers)
    }

    /// Whether the connection may carry another request after this one. HTTP/1.0 connections never do.
    package var keepsAlive: Bool { minorVersion == 1 && !headers.tokens("connection").contains("close") }

    /// Whether the client waits for `100 Continue` before it sends the body.
    package var expectsContinue: Bool { minorVersion == 1 && headers.first("expect") != nil }
}

/// A complete request.
package struct HTTPRequest: Sendable, Equatable {
    /// The request line and headers.
    package var head: HTTPRequestHead
    /// The body without transfer coding; empty if there is none.
    package var body: [UInt8]
    /// The numeric address of the connection's other end. An IPv4 address of an IPv6 socket is written as IPv4.
    package var peer: String

    /// Makes a request from its parts, as the server or a test does.
    package init(head: HTTPRequestHead, body: [UInt8] = [], peer: String = "127.0.0.1") {
        (self.head, self.body, self.peer) = (head, body, peer)
    }
}
