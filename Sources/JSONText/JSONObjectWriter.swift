/// Writes an object member by member, for what is written so often that the way through `Encodable` shows.
///
/// Names come in the order of RFC 8785, each once, without anything in them that needs an escape: a debug build stops where
/// one does not.
public struct JSONObjectWriter {
    private let text: JSONOutput
    private var isEmpty = true
    #if DEBUG
        private var last = ""
    #endif

    private init(_ text: JSONOutput) { self.text = text }

    /// The text of an object.
    public static func bytes(_ members: (inout JSONObjectWriter) -> Void) -> [UInt8] {
        let text = JSONOutput()
        write(to: text, members)
        return text.bytes
    }

    private static func write(to text: JSONOutput, _ members: (inout JSONObjectWriter) -> Void) {
        var writer = JSONObjectWriter(text)
        text.put(UInt8(ascii: "{"))
        members(&writer)
        text.put(UInt8(ascii: "}"))
    }

    private mutating func begin(_ name: StaticString) {
        #if DEBUG
            precondition(isEmpty || last < name.description, "\(name) stands behind \(last)")
            last = name.description
        #endif
        text.put(name: name, isFirst: isEmpty)
        isEmpty = false
    }

    public mutating func member(_ name: StaticString, _ value: String) {
        begin(name)
        text.put(quoted: value)
    }

    public mutating func member(_ name: StaticString, _ value: Int64) {
        begin(name)
        text.put(magnitude: value.magnitude, isNegative: value < 0)
    }

    public mutating func member(_ name: StaticString, _ value: Bool) {
        begin(name)
        text.put(value ? "true" : "false")
    }

    public mutating func member(_ name: StaticString, _ values: [String]) {
        begin(name)
        text.put(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { text.put(UInt8(ascii: ",")) }
            text.put(quoted: value)
        }
        text.put(UInt8(ascii: "]"))
    }

    public mutating func member(_ name: StaticString, _ members: [String: JSONValue]) {
        begin(name)
        CanonicalJSON.write(members, to: text)
    }

    public mutating func member(_ name: StaticString, json value: JSONValue) {
        begin(name)
        CanonicalJSON.write(value, to: text)
    }

    /// `null` where there is none.
    public mutating func member<Value>(
        _ name: StaticString, optional value: Value?, object members: (inout JSONObjectWriter, Value) -> Void
    ) {
        begin(name)
        guard let value else { return text.put("null") }
        Self.write(to: text) { members(&$0, value) }
    }

    /// A list of objects.
    public mutating func member<Value>(
        _ name: StaticString, objects values: [Value], _ members: (inout JSONObjectWriter, Value) -> Void
    ) {
        begin(name)
        text.put(UInt8(ascii: "["))
        for index in values.indices {
            if index > 0 { text.put(UInt8(ascii: ",")) }
            Self.write(to: text) { members(&$0, values[index]) }
        }
        text.put(UInt8(ascii: "]"))
    }

    public mutating func member(_ name: StaticString, object members: (inout JSONObjectWriter) -> Void) {
        begin(name)
        Self.write(to: text, members)
    }
}
