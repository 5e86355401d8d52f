/// A value that reads itself from JSON and writes itself as JSON, without a tree in between.
///
/// It reads and writes the same text as ``WireJSON``.
public protocol JSONCoded {
    /// Reads the value. It checks no bounds, since the schema does.
    ///
    /// - Throws: ``JSONMismatch`` if the text has another kind of value.
    init(json: JSONNode) throws(JSONMismatch)
    /// Writes the value.
    func write(to json: JSONOutput)
}

/// The JSON text has another kind of value than expected.
public struct JSONMismatch: Error, Equatable {
    /// The kind that was expected ("a boolean"), or the name of a member that is missing.
    public var expected: String
    /// Takes the kind that was expected, or the name of a member that is missing.
    public init(_ expected: String) { self.expected = expected }
}

extension JSONCoded {
    /// The value as a JSON text.
    public var jsonBytes: [UInt8] {
        let json = JSONOutput()
        write(to: json)
        return json.bytes
    }
}

/// Each value of the type is coded as its raw value.
extension JSONCoded where Self: RawRepresentable, RawValue: JSONCoded {
    public init(json: JSONNode) throws(JSONMismatch) {
        guard let value = Self(rawValue: try RawValue(json: json)) else { throw JSONMismatch("one of the values") }
        self = value
    }
    public func write(to json: JSONOutput) { rawValue.write(to: json) }
}

extension String: JSONCoded {
    public init(json: JSONNode) throws(JSONMismatch) {
        guard let value = json.string else { throw JSONMismatch("a string") }
        self = value
    }
    public func write(to json: JSONOutput) { json.put(quoted: self) }
}

extension Bool: JSONCoded {
    public init(json: JSONNode) throws(JSONMismatch) {
        guard let value = json.bool else { throw JSONMismatch("a boolean") }
        self = value
    }
    public func write(to json: JSONOutput) { json.put(self ? "true" : "false") }
}

extension Int64: JSONCoded {
    public init(json: JSONNode) throws(JSONMismatch) {
        guard let value = json.integer else { throw JSONMismatch("a whole number") }
        self = value
    }
    public func write(to json: JSONOutput) { json.put(magnitude: magnitude, isNegative: self < 0) }
}

extension Int: JSONCoded {
    public init(json: JSONNode) throws(JSONMismatch) { self = Int(try Int64(json: json)) }
    public func write(to json: JSONOutput) { Int64(self).write(to: json) }
}

extension Double: JSONCoded {
    public init(json: JSONNode) throws(JSONMismatch) {
        guard let value = json.number else { throw JSONMismatch("a number") }
        self = value
    }
    /// JSON has no infinity and no NaN. Both become `null`, as in `JSON.stringify` of ECMA-262.
    public func write(to json: JSONOutput) { json.put(ascii: isFinite ? CanonicalJSON.number(self) : "null") }
}

extension JSONValue: JSONCoded {
    public init(json: JSONNode) { self = json.value }
    public func write(to json: JSONOutput) { CanonicalJSON.write(self, to: json) }
}

/// `nil` is `null`.
extension Optional: JSONCoded where Wrapped: JSONCoded {
    public init(json: JSONNode) throws(JSONMismatch) { self = json.isNull ? nil : try Wrapped(json: json) }
    public func write(to json: JSONOutput) {
        if let self { self.write(to: json) } else { json.put("null") }
    }
}

extension Array: JSONCoded where Element: JSONCoded {
    public init(json: JSONNode) throws(JSONMismatch) {
        guard json.kind == .array else { throw JSONMismatch("an array") }
        let nodes = json.elements
        self.init()
        reserveCapacity(nodes.count)
        for node in nodes { append(try Element(json: node)) }
    }
    @specialized(where Element == String)
    public func write(to json: JSONOutput) {
        json.put(UInt8(ascii: "["))
        for index in indices {
            if index > 0 { json.put(UInt8(ascii: ",")) }
            self[index].write(to: json)
        }
        json.put(UInt8(ascii: "]"))
    }
}

extension Dictionary: JSONCoded where Key == String, Value: JSONCoded {
    public init(json: JSONNode) throws(JSONMismatch) {
        guard json.kind == .object else { throw JSONMismatch("an object") }
        self.init()
        for (name, node) in json.members { self[name] = try Value(json: node) }
    }
    public func write(to json: JSONOutput) {
        CanonicalJSON.write(self, to: json)
    }
}
