import BusProtocol
import JSONText

/// What may become of a message type within its version: optional members are added, more errors, more callers and
/// larger bodies, and what was not built yet is. Everything else breaks who was built before.
enum SchemaHistory {
    /// - Parameters: two documents of `MessageDocument`.
    /// - Returns: each place that breaks, as a path.
    static func breaks(from old: JSONValue, to new: JSONValue) -> [String] {
        var found: [String] = []
        for part in ["request", "reply"] {
            compare(old["$defs"]?[part] ?? .null, new["$defs"]?[part] ?? .null, part, &found)
        }
        compareRules(old["x-vestibule"] ?? .null, new["x-vestibule"] ?? .null, &found)
        return found
    }

    /// A document without its words for people, which change as anybody likes, and with lists of names in one order.
    static func withoutWords(_ document: JSONValue) -> JSONValue {
        guard case .object(var members) = document else {
            guard case .array(let elements) = document else { return document }
            return .array(elements.map { withoutWords($0) })
        }
        for key in ["description", "title"] where members[key]?.stringValue != nil { members[key] = nil }
        if let required = members["required"]?.strings {
            members["required"] = .array(required.sorted().map { .string($0) })
        }
        return .object(members.mapValues { withoutWords($0) })
    }

    private static func compare(_ old: JSONValue, _ new: JSONValue, _ path: String, _ found: inout [String]) {
        guard case .object(var before) = old, case .object(var after) = new else {
            if old != new { found.append(path) }
            return
        }
        // Words for people.
        for key in ["description", "title"] { (before[key], after[key]) = (nil, nil) }
        if case .object(let members)? = before["properties"], case .object(let now)? = after["properties"] {
            (before["properties"], after["properties"]) = (nil, nil)
            for (name, schema) in members { compare(schema, now[name] ?? .null, "\(path).\(name)", &found) }
        }
        for key in Set(before.keys).union(after.keys).sorted() {
            guard let value = before[key], let other = after[key] else {
                found.append("\(path) \(key)")
                continue
            }
            if case .array(let elements) = value, case .array(let others) = other, key == "anyOf",
                elements.count == others.count
            {
                for (index, pair) in zip(elements, others).enumerated() {
                    compare(pair.0, pair.1, "\(path)[\(index)]", &found)
                }
            } else if key == "items" || key == "additionalProperties" {
                compare(value, other, "\(path)[]", &found)
            } else if key == "required" {
                if Set(value.strings) != Set(other.strings) { found.append("\(path) required") }
            } else if value != other {
                found.append("\(path) \(key)")
            }
        }
    }

    private static func compareRules(_ old: JSONValue, _ new: JSONValue, _ found: inout [String]) {
        for key in ["kind", "answeredBy", "effect"] where old[key] != new[key] { found.append(key) }
        if !Set(old["callers"]?.strings ?? []).isSubset(of: new["callers"]?.strings ?? []) { found.append("callers") }
        let errors = new["errors"]?.arrayValue ?? []
        // What was not built yet may be built.
        for error in old["errors"]?.arrayValue ?? [] where error["code"] != "not_implemented" {
            let isThere = errors.contains {
                $0["code"] == error["code"] && $0["status"] == error["status"]
                    && $0["httpStatus"] == error["httpStatus"]
            }
            if !isThere { found.append("errors \(error["code"]?.stringValue ?? "")") }
        }
        if new["largestBodyBytes"]?.integerValue ?? 0 < old["largestBodyBytes"]?.integerValue ?? 0 {
            found.append("largestBodyBytes")
        }
    }
}

extension JSONValue {
    fileprivate var strings: [String] { arrayValue?.compactMap(\.stringValue) ?? [] }
}
