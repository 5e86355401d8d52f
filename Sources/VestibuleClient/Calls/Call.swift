import Foundation

/// One request of the public API, and the type of its reply. ``VestibuleAPI/send(_:)`` sends it.
public struct Call<Reply: Decodable & Sendable>: Sendable {
    /// The HTTP method.
    public var method: CallMethod
    /// Where the operation is.
    public var path: CallPath
    /// The access that the operation needs.
    public var access: CallAccess
    /// The parameters in the query; those without a value are not sent.
    public var query: [String: String?]
    /// Further headers; those without a value are not sent.
    public var headers: [String: String?]
    /// Sent as JSON.
    public var body: (any Encodable & Sendable)?

    /// A call with these parts.
    public init(
        _ method: CallMethod, _ path: CallPath, access: CallAccess = .open, query: [String: String?] = [:],
        headers: [String: String?] = [:], body: (any Encodable & Sendable)? = nil
    ) {
        self.method = method
        self.path = path
        self.access = access
        self.query = query
        self.headers = headers
        self.body = body
    }
}

/// The HTTP method of an operation.
public enum CallMethod: String, Sendable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
}

/// The token that an operation needs from its caller.
public enum CallAccess: Sendable, Equatable {
    /// Nothing.
    case open
    /// The access token of a session.
    case session
    /// The access token, if there is a session.
    case sessionIfAny
    /// This token of a recovery.
    case token(String)
}

/// A path of the API. Inserted values are percent-encoded, so that each stays one segment.
public struct CallPath: Sendable, Equatable, ExpressibleByStringInterpolation {
    /// The path in the form that a URL has.
    public let text: String

    /// A path that has nothing to encode.
    public init(stringLiteral value: String) { text = value }
    /// A path with values in it.
    public init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    /// Puts a path together.
    public struct Interpolation: StringInterpolationProtocol, Sendable {
        fileprivate var text = ""

        /// Begins with an empty path.
        public init(literalCapacity: Int, interpolationCount: Int) {}
        /// Adds a part of the path as it is.
        public mutating func appendLiteral(_ literal: String) { text += literal }
        /// Adds a value as one segment.
        public mutating func appendInterpolation(_ value: String) { text += value.percentEncoded }
    }
}

/// The reply of an operation without content.
public struct NoContent: Codable, Sendable, Equatable {}

extension String {
    /// The text with every character percent-encoded except the unreserved ones of a URL (RFC 3986).
    var percentEncoded: String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}
