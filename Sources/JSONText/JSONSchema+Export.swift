extension JSONSchema {
    /// What a reader does with a member that the schema does not know.
    public enum UnknownMembers: Sendable { case refused, skipped }

    /// The schema as JSON Schema 2020-12, without `$schema` and `$id`.
    public func exported(unknownMembers: UnknownMembers = .refused) -> JSONValue {
        switch self {
        case .any: [:]
        case .boolean: ["type": "boolean"]
        case .integer(let range): Self.bounded("integer", .integer(range.lowerBound), .integer(range.upperBound))
        case .number(let range): Self.bounded("number", .number(range.lowerBound), .number(range.upperBound))
        case .string(let rule): rule.exported()
        case .array(let element, let count):
            [
                "type": "array", "items": element.exported(unknownMembers: unknownMembers),
                "minItems": .integer(Int64(count.lowerBound)),
                "maxItems": .integer(Int64(count.upperBound)),
            ]
        case .map(let element, let count):
            [
                "type": "object", "additionalProperties": element.exported(unknownMembers: unknownMembers),
                "propertyNames": ["minLength": 1, "maxLength": 64],
                "minProperties": .integer(Int64(count.lowerBound)),
                "maxProperties": .integer(Int64(count.upperBound)),
            ]
        case .object(let members): Self.exported(members, unknownMembers)
        case .nullable(let inner): ["anyOf": [inner.exported(unknownMembers: unknownMembers), ["type": "null"]]]
        case .anyOf(let schemas): ["anyOf": .array(schemas.map { $0.exported(unknownMembers: unknownMembers) })]
        }
    }

    private static func bounded(_ type: JSONValue, _ minimum: JSONValue, _ maximum: JSONValue) -> JSONValue {
        var schema: [String: JSONValue] = ["type": type, "minimum": minimum, "maximum": maximum]
        // 2^63 - 1 and its like say "no bound" and are no numbers that every reader can hold.
        if minimum == .integer(.min) { schema["minimum"] = nil }
        if maximum == .integer(.max) { schema["maximum"] = nil }
        return .object(schema)
    }

    private static func exported(_ members: [Member], _ unknownMembers: UnknownMembers) -> JSONValue {
        var properties: [String: JSONValue] = [:]
        for member in members {
            var schema = member.schema.exported(unknownMembers: unknownMembers)
            if !member.note.isEmpty, case .object(var object) = schema {
                object["description"] = .string(member.note)
                schema = .object(object)
            }
            properties[member.name] = schema
        }
        let required = members.filter(\.isRequired).map { JSONValue.string($0.name) }
        var schema: [String: JSONValue] = [
            "type": "object", "properties": .object(properties),
            "additionalProperties": .bool(unknownMembers == .skipped),
        ]
        if !required.isEmpty { schema["required"] = .array(required) }
        return .object(schema)
    }
}

extension JSONSchema.StringRule {
    func exported() -> JSONValue {
        var schema: [String: JSONValue] = ["type": "string"]
        if let values {
            schema["enum"] = .array(values.map { .string($0) })
            return .object(schema)
        }
        schema["minLength"] = .integer(Int64(length.lowerBound))
        schema["maxLength"] = .integer(Int64(length.upperBound))
        switch format {
        case .uuid:
            schema["format"] = "uuid"
            schema["pattern"] = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
        case .date: schema["format"] = "date"
        case .dateTime:
            schema["format"] = "date-time"
            schema["pattern"] = "Z$"
        case .otp: schema["pattern"] = "^[0-9]{6}$"
        case .visibleASCII: schema["pattern"] = "^[!-~]*$"
        case nil: break
        }
        return .object(schema)
    }
}
