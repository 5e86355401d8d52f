/// A request's first line and headers, read in the one way that the parser allows.
public struct HTTPRequestHead: Sendable, Equatable {
    /// As sent; methods are case-sensitive.
    public var method: String
    /// Still percent-encoded, without the query; starts with `/`, or is `*` for `OPTIONS *`.
    public var path: String
    /// What follows the first `?`, still percent-encoded; `nil` where there is no `?`.
    public var query: String?
    /// 0 or 1, of HTTP/1.x.
    public var minorVersion: Int
    public var headers: HTTPHeaders

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

/// A whole request.
public struct HTTPRequest: Sendable, Equatable {
    public var head: HTTPRequestHead
    /// Without transfer coding; empty where there is none.
    public var body: [UInt8]
    /// Numeric address of the connection's other end; an IPv4 address in an IPv6 socket is written as IPv4.
    public var peer: String

    public init(head: HTTPRequestHead, body: [UInt8] = [], peer: String = "127.0.0.1") {
        (self.head, self.body, self.peer) = (head, body, peer)
    }
}

/// Header fields in the order in which they came, names in lower case.
public struct HTTPHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    public struct Field: Sendable, Equatable {
        public var name: String
        public var value: String
    }

    public private(set) var fields: [Field] = []

    public init() {}

    public init(dictionaryLiteral fields: (String, String)...) {
        for (name, value) in fields { append(name, value) }
    }

    public mutating func append(_ name: String, _ value: String) {
        // Most messages have so many: the list is not moved while it grows.
        if fields.isEmpty { fields.reserveCapacity(8) }
        fields.append(Field(name: Self.lowercase(name), value: value))
    }

    /// Removes every field of that name and adds this one.
    public mutating func set(_ name: String, _ value: String) {
        let name = Self.lowercase(name)
        if fields.contains(where: { $0.name == name }) { fields.removeAll { $0.name == name } }
        append(name, value)
    }

    /// Most names are in lower case already, and need no other text made.
    private static func lowercase(_ name: String) -> String {
        name.utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } ? name.lowercased() : name
    }

    /// - Parameter name: in lower case.
    public func first(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// - Parameter name: in lower case.
    public func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The comma-separated tokens of every field of that name, in lower case.
    public func tokens(_ name: String) -> [String] {
        all(name).flatMap { value in
            value.utf8.split(separator: UInt8(ascii: ",")).map {
                String(decoding: HTTPGrammar.trimmed(Array($0)[...]), as: UTF8.self).lowercased()
            }
        }
    }
}
