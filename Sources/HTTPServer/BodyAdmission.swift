import EventLoop

/// The server's decision on the body of a request after it has read the head.
package enum BodyAdmission {
    /// Read the body, up to `limit` bytes.
    case read(limit: Int)
    /// Run the check before reading the body. If it returns a response, send that and close the connection. Otherwise
    /// read the body, up to `limit` bytes.
    case check(@Loop () async -> HTTPResponse?, limit: Int)
    /// Pass the body on in parts, up to `limit` bytes. The upload responds in place of the handler. A request without a
    /// body goes to the handler.
    case upload(any HTTPUpload, limit: Int)
}
