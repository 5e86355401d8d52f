extension JSONSchema {
    /// Where a schema is used. Reading is lenient; writing has exactly one form.
    public enum Place: Sendable {
        /// A request of the public API. It refuses unknown members. It accepts UUIDs in either case, and times with any
        /// offset from UTC.
        case publicRequest
        /// A reply of the public API.
        case publicReply
        /// A body on the bus. Readers skip unknown members.
        case bus
    }

    /// Returns the JSON that stands for a named schema in a document.
    public typealias Referral = (Name, JSONSchema) -> JSONValue

    /// The schema as JSON Schema 2020-12, without `$schema` and `$id`.
    ///
    /// - Parameter refer: if it is `nil`, named schemas are written out at each place of their use.
    public func exported(_ place: Place = .publicReply, refer: Referral? = nil) -> JSONValue {
        switch self {
        case .any: [:]
        case .boolean: ["type": "boolean"]
        case .integer(let range): Self.bounded("integer", .integer(range.lowerBound), .integer(range.upperBound))
        case .number(let range): Self.bounded("number", .number(range.lowerBound), .number(range.upperBound))
        case .string(let rule): rule.exported(place)
        case .array(let element, let count):
            [
                "type": "array", "items": element.exported(place, refer: refer),
                "minItems": .integer(Int64(count.lowerBound)),
                "maxItems": .integer(Int64(count.upperBound)),
            ]
        case .map(let element, let count):
            [
                "type": "object", "additionalProperties": element.exported(place, refer: refer),
                "propertyNames": ["minLength": 1, "maxLength": 64],
                "minProperties": .integer(Int64(count.lowerBound)),
                "maxProperties": .integer(Int64(count.upperBound)),
            ]
        case .object(let members): Self.exported(members, place, refer)
        case .nullable(let inner): Self.nullable(inner.exported(place, refer: refer))
        case .anyOf(let schemas): ["anyOf": .array(schemas.map { $0.exported(place, refer: refer) })]
        case .named(let name, let inner): refer?(name, inner) ?? inner.exported(place)
        }
    }

    /// Generators handle one list of choices better than a list in a list.
    private static func nullable(_ schema: JSONValue) -> JSONValue {
        ["anyOf": .array((schema["anyOf"]?.arrayValue ?? [schema]) + [["type": "null"]])]
    }

    private static func bounded(_ type: JSONValue, _ minimum: JSONValue, _ maximum: JSONValue) -> JSONValue {
        var schema: [String: JSONValue] = ["type": type, "minimum": minimum, "maximum": maximum]
        // These bounds mean "no bound", and many readers of JSON cannot hold them.
        if minimum == .integer(.min) { schema["minimum"] = nil }
        if maximum == .integer(.max) { schema["maximum"] = nil }
        return .object(schema)
    }

    private static func exported(_ members: [Member], _ place: Place, _ refer: Referral?) -> JSONValue {
        var properties: [String: JSONValue] = [:]
        for member in members {
            var schema = member.schema.exported(place, refer: refer)
            if case .object(var object) = schema {
                if !member.note.isEmpty { object["description"] = .string(member.note) }
                // On the bus, no reader chooses between two members.
                if member.isDeprecated, place != .bus { object["deprecated"] = true }
                schema = .object(object)
            }
            properties[member.name] = schema
        }
        let required = members.filter(\.isRequired).map { JSONValue.string($0.name) }
        var schema: [String: JSONValue] = ["type": "object", "properties": .object(properties)]
        switch place {
        case .publicRequest: schema["additionalProperties"] = false
        // A later release may answer with more members, and a generated client must not refuse these.
        case .publicReply: break
        case .bus: schema["additionalProperties"] = true
        }
        if !required.isEmpty { schema["required"] = .array(required) }
        return .object(schema)
    }
}

extension JSONSchema.StringRule {
    func exported(_ place: JSONSchema.Place) -> JSONValue {
        var schema: [String: JSONValue] = ["type": "string"]
        // A reply lists the values of an open set in this release. A writer of a request may use other values.
        if let values = values ?? (place == .publicReply ? known : nil) {
            schema["enum"] = .array(values.map { .string($0) })
            // Generators leave out characters that a name cannot have. So two values could get one name.
            if place != .bus, values.contains(where: { $0.hasSuffix("[]") }) {
                let names = values.map { $0.replacing("[]", with: "_list").uppercased() }
                schema["x-enum-varnames"] = .array(names.map { .string($0) })
            }
            return .object(schema)
        }
        schema["minLength"] = .integer(Int64(length.lowerBound))
        schema["maxLength"] = .integer(Int64(length.upperBound))
        switch format {
        case .uuid:
            schema["format"] = "uuid"
            let digit = place == .publicRequest ? "[0-9a-fA-F]" : "[0-9a-f]"
            schema["pattern"] = .string("^\(digit){8}-\(digit){4}-\(digit){4}-\(digit){4}-\(digit){12}$")
        case .date: schema["format"] = "date"
        case .dateTime:
            schema["format"] = "date-time"
            if place == .publicRequest { schema["maxLength"] = 35 } else { schema["pattern"] = "Z$" }
        case .otp: schema["pattern"] = "^[0-9]{6}$"
        case .visibleASCII: schema["pattern"] = "^[!-~]*$"
        case .key: schema["pattern"] = "^[A-Za-z0-9_-]*$"
        case nil: break
        }
        return .object(schema)
    }
}
