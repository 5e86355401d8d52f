/// Reads an object member by member. Unknown members are skipped.
///
/// It finds a member at once if the caller reads members in the order of the text.
public struct JSONObjectReader {
    private let document: JSONDocument
    private let first: Int
    private let end: Int
    /// The member after the one that was read last.
    private var next: Int

    /// Takes the object.
    ///
    /// - Throws: ``JSONMismatch`` if the value is not an object.
    public init(_ json: JSONNode) throws(JSONMismatch) {
        guard json.kind == .object else { throw JSONMismatch("an object") }
        document = json.document
        first = json.index + 1
        end = Int(document.tape[json.index].next)
        next = first
    }

    /// Reads a required member.
    ///
    /// - Throws: ``JSONMismatch`` if the member is missing or has another kind.
    public mutating func required<Value: JSONCoded>(_ name: StaticString) throws(JSONMismatch) -> Value {
        guard let node = find(name) else { throw JSONMismatch(name.description) }
        return try Value(json: node)
    }

    /// Reads an optional member: `nil` if it is missing or `null`.
    ///
    /// - Throws: ``JSONMismatch`` if the member has another kind.
    public mutating func optional<Value: JSONCoded>(_ name: StaticString) throws(JSONMismatch) -> Value? {
        guard let node = find(name), !node.isNull else { return nil }
        return try Value(json: node)
    }

    private mutating func find(_ name: StaticString) -> JSONNode? {
        let start = next
        guard let found = find(name, from: start, to: end) ?? find(name, from: first, to: start) else { return nil }
        next = Int(document.tape[found].next)
        return JSONNode(document: document, index: found)
    }

    /// The index of a member's value.
    private func find(_ name: StaticString, from start: Int, to end: Int) -> Int? {
        let tape = document.tape
        var member = start
        while member < end {
            if JSONNode(document: document, index: member).isName(name) { return member + 1 }
            member = Int(tape[member + 1].next)
        }
        return nil
    }
}
