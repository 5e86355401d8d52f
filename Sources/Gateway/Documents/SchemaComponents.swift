import BusProtocol
import JSONText

/// The `components/schemas` of a document: every object and every enumeration, once under its own name.
///
/// The document adds the schemas of replies before those of requests. If a request is read more leniently than the
/// reply of the same name, it has a schema of its own. The name of that ends with `Input`.
final class SchemaComponents {
    private(set) var schemas: [String: JSONValue] = [:]
    /// Names that two different schemas claim.
    private(set) var clashes: Set<String> = []

    /// A schema in the form for the place of its use: a reference, or the schema itself if it needs no name.
    func exported(_ schema: JSONSchema, _ place: JSONSchema.Place = .publicReply) -> JSONValue {
        schema.exported(place) { self.reference(to: $0, $1, place) }
    }

    private func reference(to name: JSONSchema.Name, _ schema: JSONSchema, _ place: JSONSchema.Place) -> JSONValue {
        // In a request, an open set of values is a plain text.
        if place == .publicRequest, schema.isOpen { return schema.exported(place) }
        var value = exported(schema.namingParts(of: name.text), place)
        if !name.words.isEmpty { value = value.with("description", .string(Self.words(name.words))) }
        guard let known = schemas[name.text], known != value else {
            let reference = refer(name.text, value)
            // From an enumeration alone, generators make a closed set. So a generated client would refuse a later
            // value.
            return place == .publicReply && schema.mayGrow ? ["anyOf": [reference, ["type": "string"]]] : reference
        }
        guard place == .publicRequest else {
            clashes.insert(name.text)
            return refer(name.text, value)
        }
        let input = "\(name.text)Input"
        if let known = schemas[input], known != value { clashes.insert(input) }
        return refer(input, value)
    }

    /// Marks an object as one that has further members already.
    func allowMoreMembers(of name: String) { schemas[name] = schemas[name]?.with("additionalProperties", true) }

    private func refer(_ name: String, _ value: JSONValue) -> JSONValue {
        schemas[name] = value
        return ["$ref": .string("#/components/schemas/\(name)")]
    }

    /// A doc comment without the marks of DocC, which Markdown does not have.
    static func words(_ text: String) -> String { text.replacing("``", with: "`") }
}

extension JSONSchema {
    /// Names the objects and enumerations among the members, too. Each name is the owner's name, followed by the
    /// member's.
    fileprivate func namingParts(of owner: String) -> JSONSchema {
        guard case .object(let members) = self else { return self }
        return .object(
            members.map { member in
                var named = member
                named.note = SchemaComponents.words(member.note)
                named.schema = member.schema.namingParts("\(owner)\(member.name.capitalizedFirst)", named.note)
                return named
            })
    }

    /// Whether a later release may answer with another value. A single closed value cannot change, since it
    /// distinguishes the parts of a choice.
    fileprivate var mayGrow: Bool {
        if case .string(let rule) = self { rule.known != nil || rule.values?.count ?? 0 > 1 } else { false }
    }

    fileprivate var isOpen: Bool { if case .string(let rule) = self { rule.known != nil } else { false } }

    func namingParts(_ name: String, _ words: String) -> JSONSchema {
        switch self {
        case .object: named(name, words)
        case .string(let rule): rule.values != nil || rule.known != nil ? named(name, words) : self
        case .nullable(let inner): .nullable(inner.namingParts(name, words))
        case .array(let element, let count): .array(of: element.namingParts(name, words), count: count)
        case .map(let element, let count): .map(of: element.namingParts(name, words), count: count)
        case .anyOf(let schemas): .anyOf(schemas.map { $0.namingParts(name, words) })
        case .any, .boolean, .integer, .number, .named: self
        }
    }
}

extension JSONValue {
    /// An object with one member more.
    func with(_ name: String, _ value: JSONValue) -> JSONValue {
        .object((objectValue ?? [:]).merging([name: value]) { $1 })
    }
}

extension StringProtocol {
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
