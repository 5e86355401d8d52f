/// The request line and headers of a request.
public struct HTTPRequestHead: Sendable, Equatable {
    /// The method as sent. Methods are case-sensitive.
    public var method: String
    /// The path without the query, still percent-encoded. It starts with `/`, or is `*` for `OPTIONS *`.
    public var path: String
    /// The part after the first `?`, still percent-encoded; `nil` if there is no `?`.
    public var query: String?
    /// The x of HTTP/1.x: 0 or 1.
    public var minorVersion: Int
    /// The header fields.
    public var headers: HTTPHeaders

    /// Makes a head from its parts, as the parser or a test does.
    public init(
        method: String, path: String, query: String? = nil, minorVersion: Int = 1, headers: HTTPHeaders = HTTPHeaders()
    ) {
        (self.method, self.path, self.query) = (method, path, query)
        (self.minorVersion, self.headers) = (minorVersion, headers)
    }

    /// Whether the connection may carry another request after this one. HTTP/1.0 connections never do.
    public var keepsAlive: Bool { minorVersion == 1 && !headers.tokens("connection").contains("close") }

    /// Whether the client waits for `100 Continue` before it sends the body.
    public var expectsContinue: Bool { minorVersion == 1 && headers.first("expect") != nil }
}

/// A complete request.
public struct HTTPRequest: Sendable, Equatable {
    /// The request line and headers.
    public var head: HTTPRequestHead
    /// The body without transfer coding; empty if there is none.
    public var body: [UInt8]
    /// The numeric address of the connection's other end. An IPv4 address of an IPv6 socket is written as IPv4.
    public var peer: String

    /// Makes a request from its parts, as the server or a test does.
    public init(head: HTTPRequestHead, body: [UInt8] = [], peer: String = "127.0.0.1") {
        (self.head, self.body, self.peer) = (head, body, peer)
    }
}

/// Header fields in the order of the message. Their names are in lower case.
public struct HTTPHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// One header field.
    public struct Field: Sendable, Equatable {
        /// The name in lower case.
        public var name: String
        /// The value without surrounding spaces and tabs.
        public var value: String
    }

    /// All fields; a name may appear more than once.
    public private(set) var fields: [Field] = []

    /// Makes headers without a field.
    public init() {}

    /// Makes headers with these fields.
    public init(dictionaryLiteral fields: (String, String)...) {
        for (name, value) in fields { append(name, value) }
    }

    /// Adds a field after the others.
    public mutating func append(_ name: String, _ value: String) {
        // Most messages have at most eight fields, so the array need not grow.
        if fields.isEmpty { fields.reserveCapacity(8) }
        fields.append(Field(name: Self.lowercase(name), value: value))
    }

    /// Replaces all fields of that name with one.
    public mutating func set(_ name: String, _ value: String) {
        let name = Self.lowercase(name)
        if fields.contains(where: { $0.name == name }) { fields.removeAll { $0.name == name } }
        append(name, value)
    }

    /// The name in lower case. The check avoids a new string, since most names are in lower case already.
    private static func lowercase(_ name: String) -> String {
        name.utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } ? name.lowercased() : name
    }

    /// The value of the first field of that name.
    ///
    /// - Parameter name: in lower case.
    public func first(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The values of all fields of that name.
    ///
    /// - Parameter name: in lower case.
    public func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The comma-separated tokens of all fields of that name, in lower case.
    public func tokens(_ name: String) -> [String] {
        all(name).flatMap { value in
            value.utf8.split(separator: UInt8(ascii: ",")).map {
                String(decoding: HTTPGrammar.trimmed(Array($0)[...]), as: UTF8.self).lowercased()
            }
        }
    }
}
