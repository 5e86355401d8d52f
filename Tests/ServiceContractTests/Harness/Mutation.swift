import JSONText

/// A body with one change, and the verdict that the schema must give.
struct Mutation: Sendable {
    /// The label in a failure, such as `name: removed`.
    var label: String
    var body: JSONValue
    /// The field that a refusal must name; `nil` if the change is allowed.
    var refusedField: String?

    /// Every single change of `body` that the schema must judge. Required members are removed or null. Types are wrong.
    /// Lengths and numbers are at min − 1, min, max and max + 1. Values are outside a closed list. Formats are invalid.
    static func all(of body: JSONValue, by schema: JSONSchema) -> [Mutation] {
        var walker = MutationWalker()
        walker.walk(schema, body, field: "") { $0 }
        return walker.mutations
    }

    /// The bodies with a member that the schema does not know, one for each object in `body`.
    static func unknownMembers(in body: JSONValue, by schema: JSONSchema) -> [JSONValue] {
        var walker = MutationWalker()
        walker.walk(schema, body, field: "") { $0 }
        return walker.withUnknownMember
    }
}

private struct MutationWalker {
    var mutations: [Mutation] = []
    var withUnknownMember: [JSONValue] = []

    typealias Rebuild = (JSONValue) -> JSONValue

    mutating func walk(_ schema: JSONSchema, _ value: JSONValue, field: String, _ rebuild: @escaping Rebuild) {
        switch schema {
        case .any: break
        case .boolean: refuse("wrong type", .string("x"), field, rebuild)
        case .integer(let range): integer(range, field, rebuild)
        case .number(let range): number(range, field, rebuild)
        case .string(let rule): string(rule, field, rebuild)
        case .array(let element, let count): array(element, count, value, field, rebuild)
        case .map(let element, _): map(element, value, field, rebuild)
        case .object(let members): object(members, value, field, rebuild)
        case .nullable(let inner): if value != .null { walk(inner, value, field: field, rebuild) }
        case .anyOf: break
        case .named(_, let inner): walk(inner, value, field: field, rebuild)
        }
    }

    private mutating func refuse(_ what: String, _ value: JSONValue, _ field: String, _ rebuild: Rebuild) {
        mutations.append(Mutation(label: "\(field): \(what)", body: rebuild(value), refusedField: field))
    }

    private mutating func allow(_ what: String, _ value: JSONValue, _ field: String, _ rebuild: Rebuild) {
        mutations.append(Mutation(label: "\(field): \(what)", body: rebuild(value), refusedField: nil))
    }

    private mutating func integer(_ range: ClosedRange<Int64>, _ field: String, _ rebuild: Rebuild) {
        refuse("wrong type", .string("7"), field, rebuild)
        refuse("fraction", .number(0.5), field, rebuild)
        allow("min", .integer(range.lowerBound), field, rebuild)
        allow("max", .integer(range.upperBound), field, rebuild)
        if range.lowerBound > .min { refuse("min - 1", .integer(range.lowerBound - 1), field, rebuild) }
        if range.upperBound < .max { refuse("max + 1", .integer(range.upperBound + 1), field, rebuild) }
    }

    private mutating func number(_ range: ClosedRange<Double>, _ field: String, _ rebuild: Rebuild) {
        refuse("wrong type", .string("7"), field, rebuild)
        allow("min", .number(range.lowerBound), field, rebuild)
        allow("max", .number(range.upperBound), field, rebuild)
        refuse("below min", .number(range.lowerBound.nextDown), field, rebuild)
        refuse("above max", .number(range.upperBound.nextUp), field, rebuild)
    }

    private mutating func string(_ rule: JSONSchema.StringRule, _ field: String, _ rebuild: Rebuild) {
        refuse("wrong type", .integer(7), field, rebuild)
        if rule.values != nil {
            refuse("not one of the values", .string("no-such-value"), field, rebuild)
        } else if rule.format != nil {
            refuse("malformed", .string(String(repeating: "\u{1f}", count: rule.length.upperBound)), field, rebuild)
        } else {
            let (low, high) = (rule.length.lowerBound, rule.length.upperBound)
            if low > 0 { refuse("min - 1", .string(String(repeating: "a", count: low - 1)), field, rebuild) }
            allow("min", .string(String(repeating: "a", count: low)), field, rebuild)
            allow("max", .string(String(repeating: "ä", count: high)), field, rebuild)
            refuse("max + 1", .string(String(repeating: "a", count: high + 1)), field, rebuild)
        }
    }

    private mutating func array(
        _ element: JSONSchema, _ count: ClosedRange<Int>, _ value: JSONValue, _ field: String,
        _ rebuild: @escaping Rebuild
    ) {
        refuse("wrong type", .object([:]), field, rebuild)
        guard case .array(let elements) = value, let first = elements.first else { return }
        if count.lowerBound > 0 {
            refuse("min - 1", .array(Array(elements.prefix(count.lowerBound - 1))), field, rebuild)
        }
        if count.upperBound <= 500 {
            refuse("max + 1", .array(Array(repeating: first, count: count.upperBound + 1)), field, rebuild)
        }
        let prefix = field.isEmpty ? "" : field + "."
        walk(element, first, field: "\(prefix)0") { changed in rebuild(.array([changed] + elements.dropFirst())) }
    }

    private mutating func map(
        _ element: JSONSchema, _ value: JSONValue, _ field: String, _ rebuild: @escaping Rebuild
    ) {
        refuse("wrong type", .array([]), field, rebuild)
        guard case .object(let members) = value, let first = members.min(by: { $0.key < $1.key }) else { return }
        let prefix = field.isEmpty ? "" : field + "."
        walk(element, first.value, field: prefix + first.key) { changed in
            rebuild(.object(members.merging([first.key: changed]) { $1 }))
        }
    }

    private mutating func object(
        _ schema: [JSONSchema.Member], _ value: JSONValue, _ field: String, _ rebuild: @escaping Rebuild
    ) {
        refuse("wrong type", .array([]), field, rebuild)
        guard case .object(let members) = value else { return }
        withUnknownMember.append(rebuild(.object(members.merging(["xFromTheFuture": .bool(true)]) { $1 })))
        for member in schema {
            let name = field.isEmpty ? member.name : "\(field).\(member.name)"
            if member.isRequired {
                var without = members
                without[member.name] = nil
                refuse("without \(member.name)", .object(without), field, rebuild)
                mutations[mutations.count - 1].refusedField = name
            }
            guard let inner = members[member.name] else { continue }
            let into: Rebuild = { changed in rebuild(.object(members.merging([member.name: changed]) { $1 })) }
            if !member.schema.allowsNull { refuse("null", .null, name, into) }
            walk(member.schema, inner, field: name, into)
        }
    }
}

extension JSONSchema {
    fileprivate var allowsNull: Bool {
        switch self {
        case .any, .nullable: true
        case .anyOf(let schemas): schemas.contains { $0.allowsNull }
        case .named(_, let inner): inner.allowsNull
        default: false
        }
    }
}
