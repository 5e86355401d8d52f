import BusProtocol
import Foundation
import JSONText
import Testing

/// Within a version a message only grows. Each released state of its schema is beside its fixtures, from
/// `schema.1.json` on. None of them is ever edited.
@Suite("history of schemas") struct SchemaHistoryTests {
    @Test("no released state is broken, and the newest is recorded", arguments: AnyContract.examined)
    func history(contract: AnyContract) throws {
        let (folder, current) = (contract.contract.folder, try contract.contract.document)
        let recorded = try Fixtures.schemas(of: folder, recording: current)
        for (number, old) in recorded.enumerated() {
            #expect(SchemaHistory.breaks(from: old, to: current) == [], "schema.\(number + 1).json")
        }
        // An unrecorded addition could be removed again later without a failure.
        let isRecorded = recorded.last.map { SchemaHistory.withoutWords($0) } == SchemaHistory.withoutWords(current)
        #expect(isRecorded, "record it: make contract MESSAGE=\(contract.contract.type)")
    }

    /// Makes every kind of breaking change at every possible place in every message, to show that none is missed.
    @Test("a breaking change is caught at every place", arguments: SchemaChange.Kind.allCases)
    func caught(kind: SchemaChange.Kind) throws {
        var made = 0
        for document in try AnyContract.all.map({ try $0.contract.document }) {
            for changed in SchemaChange.all(kind, of: document) {
                made += 1
                let breaks = SchemaHistory.breaks(from: document, to: changed.document)
                #expect(breaks.isEmpty == kind.isAllowed, "\(changed.place)")
            }
        }
        #expect(made > 0, "there is no place for such a change")
    }
}

/// A document with one change that breaks.
struct SchemaChange {
    enum Kind: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case memberRemoved, memberRenamed, memberRetyped, memberBecomesRequired, memberBecomesOptional
        case requiredMemberAdded, lowerBoundRaised, upperBoundLowered, upperBoundRaised, valueRemoved, valueAdded
        case formatDropped, patternChanged, nullForbidden, unknownMembersRefused, mapBecomesClosed
        case errorRemoved, errorWithOtherStatus, callerRemoved, effectChanged, deliveryEnds, otherServiceAnswers
        case bodyLimitLowered
        case optionalMemberAdded, noteChanged, errorAdded, callerAdded, bodyLimitRaised

        var testDescription: String { rawValue }

        var isAllowed: Bool {
            switch self {
            case .optionalMemberAdded, .noteChanged, .errorAdded, .callerAdded, .bodyLimitRaised: true
            default: false
            }
        }
    }

    var place: String
    var document: JSONValue

    static func all(_ kind: Kind, of document: JSONValue) -> [SchemaChange] {
        var changes: [SchemaChange] = []
        for part in ["request", "reply"] {
            guard let schema = document["$defs"]?[part] else { continue }
            visit(schema, part) { place, changed in
                var whole = document
                whole["$defs"]?[part] = changed
                changes.append(SchemaChange(place: place, document: whole))
            } change: {
                Self.change(kind, $0)
            }
        }
        if let rules = document["x-vestibule"] {
            for changed in change(kind, rules: rules) {
                var whole = document
                whole["x-vestibule"] = changed
                changes.append(SchemaChange(place: "rules", document: whole))
            }
        }
        let title = document["title"]?.stringValue ?? ""
        return changes.map { SchemaChange(place: "\(title): \($0.place)", document: $0.document) }
    }

    /// Calls `found` with the whole schema after each possible change.
    private static func visit(
        _ schema: JSONValue, _ place: String, _ found: (String, JSONValue) -> Void, change: (JSONValue) -> [JSONValue]
    ) {
        for changed in change(schema) { found(place, changed) }
        for (name, inner) in schema["properties"]?.objectValue ?? [:] {
            visit(inner, "\(place).\(name)") { place, changed in
                var whole = schema
                whole["properties"]?[name] = changed
                found(place, whole)
            } change: {
                change($0)
            }
        }
        for key in ["items", "additionalProperties"] {
            guard let inner = schema[key], inner.objectValue != nil else { continue }
            visit(inner, "\(place)[]") { place, changed in
                var whole = schema
                whole[key] = changed
                found(place, whole)
            } change: {
                change($0)
            }
        }
        for (index, inner) in (schema["anyOf"]?.arrayValue ?? []).enumerated() {
            visit(inner, "\(place)[\(index)]") { place, changed in
                var elements = schema["anyOf"]?.arrayValue ?? []
                elements[index] = changed
                var whole = schema
                whole["anyOf"] = .array(elements)
                found(place, whole)
            } change: {
                change($0)
            }
        }
    }

    private static func change(_ kind: Kind, _ schema: JSONValue) -> [JSONValue] {
        func with(_ change: (inout JSONValue) -> Void) -> [JSONValue] {
            var changed = schema
            change(&changed)
            return changed == schema ? [] : [changed]
        }
        let members = schema["properties"]?.objectValue
        let required = (schema["required"]?.arrayValue ?? []).compactMap(\.stringValue)
        func requiring(_ names: [String]) -> JSONValue { .array(names.map { .string($0) }) }
        switch kind {
        case .memberRemoved:
            return (members ?? [:]).keys.flatMap { name in with { $0["properties"]?[name] = nil } }
        case .memberRenamed:
            return (members ?? [:]).flatMap { name, inner in
                with {
                    $0["properties"]?[name] = nil
                    $0["properties"]?[name + "New"] = inner
                }
            }
        case .memberRetyped:
            guard let type = schema["type"]?.stringValue, type != "object" else { return [] }
            return with { $0["type"] = type == "boolean" ? "string" : "boolean" }
        case .memberBecomesRequired:
            return (members ?? [:]).keys.filter { !required.contains($0) }
                .flatMap { name in with { $0["required"] = requiring(required + [name]) } }
        case .memberBecomesOptional:
            return required.flatMap { name in with { $0["required"] = requiring(required.filter { $0 != name }) } }
        case .requiredMemberAdded:
            guard members != nil else { return [] }
            return with {
                $0["properties"]?["added"] = ["type": "boolean"]
                $0["required"] = requiring(required + ["added"])
            }
        case .optionalMemberAdded:
            guard members != nil else { return [] }
            return with { $0["properties"]?["added"] = ["type": "boolean"] }
        case .lowerBoundRaised: return bounds(["minimum", "minLength", "minItems", "minProperties"], by: 1, schema)
        case .upperBoundLowered: return bounds(["maximum", "maxLength", "maxItems", "maxProperties"], by: -1, schema)
        case .upperBoundRaised: return bounds(["maximum", "maxLength", "maxItems", "maxProperties"], by: 1, schema)
        case .valueRemoved:
            guard let values = schema["enum"]?.arrayValue else { return [] }
            return with { $0["enum"] = .array(Array(values.dropLast())) }
        case .valueAdded:
            guard let values = schema["enum"]?.arrayValue else { return [] }
            return with { $0["enum"] = .array(values + ["added"]) }
        case .formatDropped: return with { $0["format"] = nil }
        case .patternChanged: return schema["pattern"] == nil ? [] : with { $0["pattern"] = "^x$" }
        case .nullForbidden: return schema["anyOf"] == nil ? [] : with { $0 = $0["anyOf"]?.arrayValue?.first ?? .null }
        case .unknownMembersRefused: return members == nil ? [] : with { $0["additionalProperties"] = false }
        case .mapBecomesClosed:
            return schema["propertyNames"] == nil ? [] : with { $0["propertyNames"] = ["maxLength": 1] }
        case .noteChanged: return with { $0["description"] = "Other words." }
        default: return []
        }
    }

    private static func bounds(_ names: [String], by step: Int64, _ schema: JSONValue) -> [JSONValue] {
        names.compactMap { name in
            guard let bound = schema[name] else { return nil }
            var changed = schema
            changed[name] = bound.integerValue.map { .integer($0 + step) } ?? .number(0.125)
            return changed
        }
    }

    private static func change(_ kind: Kind, rules: JSONValue) -> [JSONValue] {
        var changed = rules
        let errors = rules["errors"]?.arrayValue ?? []
        let callers = rules["callers"]?.arrayValue ?? []
        switch kind {
        case .errorRemoved: changed["errors"] = .array(Array(errors.dropLast()))
        case .errorWithOtherStatus:
            changed["errors"] = .array(errors.map { $0.with("httpStatus", .integer(418)) })
        case .errorAdded:
            changed["errors"] = .array(errors + [["code": "added", "status": "ABORTED", "httpStatus": 409]])
        case .callerRemoved: changed["callers"] = .array(Array(callers.dropLast()))
        case .callerAdded: changed["callers"] = .array(callers + ["added"])
        case .effectChanged: changed["effect"] = rules["effect"] == "once" ? "read" : "once"
        case .deliveryEnds: changed["delivery"] = nil
        case .otherServiceAnswers: changed["answeredBy"] = "other"
        case .bodyLimitLowered: changed["largestBodyBytes"] = 1
        case .bodyLimitRaised: changed["largestBodyBytes"] = 1_000_000
        default: break
        }
        return changed == rules ? [] : [changed]
    }
}

extension JSONValue {
    fileprivate subscript(_ name: String) -> JSONValue? {
        get { objectValue?[name] }
        set {
            guard case .object(var members) = self else { return }
            members[name] = newValue
            self = .object(members)
        }
    }

    fileprivate func with(_ name: String, _ value: JSONValue) -> JSONValue {
        var changed = self
        changed[name] = value
        return changed
    }
}
