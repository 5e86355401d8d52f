import EventLoop

/// The later parts of a response's body, made while the response is sent.
///
/// The server asks for the next part when the client has taken the last one. If `next` throws, the server closes the
/// connection, so that the client sees an incomplete response.
package final class HTTPBodyRest: Sendable, Equatable {
    let next: @Loop @Sendable () async throws -> [UInt8]?

    /// - Parameter next: returns the next part, or `nil` at the end.
    package init(_ next: @escaping @Loop @Sendable () async throws -> [UInt8]?) { self.next = next }

    /// Whether both are the same object.
    package static func == (a: HTTPBodyRest, b: HTTPBodyRest) -> Bool { a === b }
}
