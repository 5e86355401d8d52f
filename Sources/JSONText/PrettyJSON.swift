/// JSON for people and for comparison by line: members sorted by name, two spaces per level.
public enum PrettyJSON {
    /// The text of a value, with a line feed at its end.
    public static func text(of value: JSONValue) -> String { lines(value, indent: "") + "\n" }

    private static func lines(_ value: JSONValue, indent: String) -> String {
        let inner = indent + "  "
        switch value {
        case .array(let elements) where elements.contains(where: \.isContainer):
            return block("[", elements.map { inner + lines($0, indent: inner) }, "]", indent)
        case .object(let members) where !members.isEmpty:
            let sorted = members.sorted { $0.key < $1.key }
            return block(
                "{", sorted.map { "\(inner)\(short(.string($0.key))): \(lines($0.value, indent: inner))" }, "}", indent)
        case .array(let elements): return "[\(elements.map { short($0) }.joined(separator: ", "))]"
        default: return short(value)
        }
    }

    private static func block(_ open: String, _ lines: [String], _ close: String, _ indent: String) -> String {
        "\(open)\n\(lines.joined(separator: ",\n"))\n\(indent)\(close)"
    }

    private static func short(_ value: JSONValue) -> String {
        String(decoding: CanonicalJSON.bytes(of: value), as: UTF8.self)
    }
}

extension JSONValue {
    fileprivate var isContainer: Bool {
        switch self {
        case .array, .object: true
        default: false
        }
    }
}
