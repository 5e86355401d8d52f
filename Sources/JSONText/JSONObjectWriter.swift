/// Writes an object member by member.
///
/// Each name is written once, in the order of RFC 8785, and needs no escape. A debug build stops if the order is wrong.
public struct JSONObjectWriter {
    private let json: JSONOutput
    private var isEmpty = true
    #if DEBUG
        private var last = ""
    #endif

    init(_ json: JSONOutput) { self.json = json }

    private mutating func begin(_ name: StaticString) {
        #if DEBUG
            precondition(isEmpty || last < name.description, "\(name) must come before \(last)")
            last = name.description
        #endif
        json.put(name: name, isFirst: isEmpty)
        isEmpty = false
    }

    /// Writes a member. An optional value that is `nil` is written as `null`.
    public mutating func member(_ name: StaticString, _ value: some JSONCoded) {
        begin(name)
        value.write(to: json)
    }

    /// Writes a member, or nothing if the value is `nil`.
    public mutating func optional(_ name: StaticString, _ value: (some JSONCoded)?) {
        if let value { member(name, value) }
    }
}

extension JSONOutput {
    /// Writes an object with the members that `members` writes.
    public func object(_ members: (inout JSONObjectWriter) -> Void) {
        var writer = JSONObjectWriter(self)
        put(UInt8(ascii: "{"))
        members(&writer)
        put(UInt8(ascii: "}"))
    }
}
