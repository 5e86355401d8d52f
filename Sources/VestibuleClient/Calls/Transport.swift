import Foundation

/// Carries HTTP requests. The default is ``URLSessionTransport``.
public protocol Transport: Sendable {
    /// Sends one request. Redirects and cookies are not needed.
    ///
    /// - Throws: any error if no answer arrived.
    func answer(to request: TransportRequest) async throws -> TransportAnswer
}

/// An HTTP request.
public struct TransportRequest: Sendable, Equatable {
    /// `GET`, `POST` and so on.
    public var method: String
    /// With the query.
    public var url: URL
    /// Values by name.
    public var headers: [String: String]
    /// The bytes of the body, if there is one.
    public var body: Data?

    /// A request with these parts.
    public init(method: String, url: URL, headers: [String: String] = [:], body: Data? = nil) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
    }
}

/// The answer of a server.
public struct TransportAnswer: Sendable, Equatable {
    /// The HTTP status.
    public var status: Int
    /// Values by name in lower case.
    public var headers: [String: String]
    /// The bytes of the body.
    public var body: Data

    /// An answer with these parts; the names of headers may have any case.
    public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.headers = Dictionary(headers.map { ($0.lowercased(), $1) }) { first, _ in first }
        self.body = body
    }
}
