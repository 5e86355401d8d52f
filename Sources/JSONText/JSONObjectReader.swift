/// Reads an object member by member.
///
/// Whoever asks for the members in the order in which they stand in the text finds each at once. Unknown members are skipped.
public struct JSONObjectReader {
    private let document: JSONDocument
    private let first: Int
    private let end: Int
    /// The member behind the one that was read last.
    private var next: Int

    /// - Throws: ``JSONMismatch`` where the value is no object.
    public init(_ json: JSONNode) throws(JSONMismatch) {
        guard json.kind == .object else { throw JSONMismatch("an object") }
        document = json.document
        first = json.index + 1
        end = Int(document.tape[json.index].next)
        next = first
    }

    /// - Throws: ``JSONMismatch`` where the member is missing, or of another kind.
    public mutating func required<Value: JSONCoded>(_ name: StaticString) throws(JSONMismatch) -> Value {
        guard let node = find(name) else { throw JSONMismatch(name.description) }
        return try Value(json: node)
    }

    /// A member that is missing and one that is `null` are `nil`.
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

    /// The index of the value of a member.
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
