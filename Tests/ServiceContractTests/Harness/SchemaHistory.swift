import BusProtocol
import JSONText

/// Compares two states of a message type within its version.
///
/// A later state may add optional members, errors and callers, and allow larger bodies. It may also implement a message
/// that was not built before. Any other change breaks older builds.
enum SchemaHistory {
    /// - Parameters: two documents from `MessageDocument`.
    /// - Returns: the path of each change that breaks.
    static func breaks(from old: JSONValue, to new: JSONValue) -> [String] {
        var found: [String] = []
        for part in ["request", "reply"] {
            compare(old["$defs"]?[part] ?? .null, new["$defs"]?[part] ?? .null, part, &found)
        }
        compareRules(old["x-vestibule"] ?? .null, new["x-vestibule"] ?? .null, &found)
        return found
    }

    /// The document without descriptions for people, which may change, and with lists of names sorted.
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
        // Descriptions for people may change.
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
        // A receiver may rely on an event that is delivered until it is accepted. With other delivery, it could wait
        // for ever.
        if old["delivery"] != nil, old["delivery"] != new["delivery"] { found.append("delivery") }
        if !Set(old["callers"]?.strings ?? []).isSubset(of: new["callers"]?.strings ?? []) { found.append("callers") }
        let errors = new["errors"]?.arrayValue ?? []
        // A message that was not built may be built later.
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
