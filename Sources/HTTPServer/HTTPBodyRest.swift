import EventLoop

/// What follows the first bytes of an answer, made while it is sent.
///
/// It is asked for the next piece when the client took the one before. Where it throws, the connection is cut: the client
/// sees that the answer is not whole.
public final class HTTPBodyRest: Sendable, Equatable {
    let next: @Loop @Sendable () async throws -> [UInt8]?

    /// - Parameter next: the next piece; `nil` at the end.
    public init(_ next: @escaping @Loop @Sendable () async throws -> [UInt8]?) { self.next = next }

    public static func == (a: HTTPBodyRest, b: HTTPBodyRest) -> Bool { a === b }
}
