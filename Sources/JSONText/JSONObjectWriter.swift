/// Writes an object member by member.
///
/// Names come in the order of RFC 8785, each once, without anything in them that needs an escape: a debug build stops where
/// one does not.
public struct JSONObjectWriter {
    private let json: JSONOutput
    private var isEmpty = true
    #if DEBUG
        private var last = ""
    #endif

    init(_ json: JSONOutput) { self.json = json }

    private mutating func begin(_ name: StaticString) {
        #if DEBUG
            precondition(isEmpty || last < name.description, "\(name) stands behind \(last)")
            last = name.description
        #endif
        json.put(name: name, isFirst: isEmpty)
        isEmpty = false
    }

    /// An optional that is none is written as `null`.
    public mutating func member(_ name: StaticString, _ value: some JSONCoded) {
        begin(name)
        value.write(to: json)
    }

    /// A member that is left out where there is no value.
    public mutating func optional(_ name: StaticString, _ value: (some JSONCoded)?) {
        if let value { member(name, value) }
    }
}

extension JSONOutput {
    /// Writes an object.
    public func object(_ members: (inout JSONObjectWriter) -> Void) {
        var writer = JSONObjectWriter(self)
        put(UInt8(ascii: "{"))
        members(&writer)
        put(UInt8(ascii: "}"))
    }
}
