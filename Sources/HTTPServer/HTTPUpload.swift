import EventLoop

/// A request whose body is taken in parts while it arrives, so that it need not fit into memory.
@Loop package protocol HTTPUpload: AnyObject, Sendable {
    /// Checks the request before its body is read.
    ///
    /// - Returns: a response that refuses it; the server sends that and closes the connection.
    func begin() async -> HTTPResponse?
    /// Takes the next part of the body, of ``HTTPServer/partLength`` bytes. The server passes on no other part
    /// meanwhile.
    ///
    /// - Returns: a response that refuses the rest; the server sends that and closes the connection.
    func take(_ part: [UInt8]) async -> HTTPResponse?
    /// Takes the end of the body, of at most a part, and responds. The server does not call this if the client goes
    /// away before.
    func finish(_ end: [UInt8]) async -> HTTPResponse
}
