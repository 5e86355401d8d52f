import JSONText

extension DefinitionDifference {
    /// A line of text for each change, the gravest first, and a last line with the class of the version.
    var lines: [String] {
        let sorted = changes.sorted { ($1.changeClass, $0.pointer) < ($0.changeClass, $1.pointer) }
        let told = sorted.map { change in
            let keys = change.keys.isEmpty ? "" : " (\(change.keys.joined(separator: ", ")))"
            return "\(change.changeClass.rawValue): \(change.kind.rawValue)\(keys) [\(change.pointer)]"
        }
        let count = "\(changes.count) change\(changes.count == 1 ? "" : "s")"
        return told + [changeClass.map { "\(count); the version is \($0.rawValue)" } ?? count]
    }

    var json: JSONValue {
        [
            "class": changeClass.map { .string($0.rawValue) } ?? .null,
            "changes": .array(
                changes.map { change in
                    [
                        "kind": .string(change.kind.rawValue), "class": .string(change.changeClass.rawValue),
                        "pointer": .string(change.pointer), "keys": .array(change.keys.map { .string($0) }),
                    ]
                }),
        ]
    }
}
