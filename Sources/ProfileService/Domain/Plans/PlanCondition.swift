import BusProtocol
import Documents
import JSONText

/// A condition of a step: tests of the person's fields.
typealias PlanCondition = Logic<FieldTest>

/// A test of one field of the profile. It is unknown while the person has given no value.
struct FieldTest: Sendable, Hashable {
    /// The key of the field.
    let field: String
    let rule: ConditionRule
}

extension PlanCondition {
    /// Whether the condition holds for a person. An unknown one does not.
    func holds(for record: ProfileRecord) -> Bool {
        truth { test in
            // No condition of a plan counts years, so the day does not matter.
            test.rule.truth(state: "", value: record.value(of: test.field), today: record.createdAt.date)
        } ?? false
    }

    /// The keys of the fields that the condition depends on.
    var fields: Set<String> {
        var fields = Set<String>()
        // While every test is unknown, each one counts.
        _ = truth { test in
            fields.insert(test.field)
            return nil
        }
        return fields
    }
}

extension ProfileRecord {
    /// The value that the person gave; `nil` if the field was skipped, declined or not answered.
    fileprivate func value(of field: String) -> JSONValue? {
        if field == "dateOfBirth" { return dateOfBirth.map { .string($0.description) } }
        if case .answered(let value) = fields[field] { return value }
        return nil
    }
}

/// Reads the condition of a step, and checks it against the library of fields.
struct PlanConditionReader: ConditionReader {
    typealias Test = FieldTest
    static let compared = "a field"
    static let example = "{\"var\": field}"
    static let operands: Set = ["count"]

    let library: FieldLibrary
    /// The fields that the step itself or a later one asks for.
    let later: Set<String>
    private(set) var problems: [DocumentProblem] = []

    init(_ library: FieldLibrary, later: Set<String>) { (self.library, self.later) = (library, later) }

    mutating func refuse(_ problem: DocumentProblem) { problems.append(problem) }

    mutating func operand(_ name: String, _ json: JSONValue, at pointer: String) -> ConditionOperand<FieldTest>? {
        switch name {
        case "var":
            guard let field = field(json, at: pointer) else { return nil }
            guard let kind = kind(of: field) else {
                refuse("E05", pointer, "This field cannot be compared: use answered, any_in, all_in or count.")
                return nil
            }
            return Self.operand(field, kind)
        case "count": return choices(json, at: pointer).map { Self.operand($0, .number, .count) }
        default:
            refuse("E05", pointer, "“\(name)” cannot be compared.")
            return nil
        }
    }

    mutating func set(_ json: JSONValue, at pointer: String) -> ConditionOperand<FieldTest>? {
        guard let members = json.objectValue, members.count == 1, let key = members["var"] else {
            refuse("malformed", pointer, "This must be {\"var\": field}.")
            return nil
        }
        return choices(key, at: "\(pointer)/var").map { Self.operand($0, .option(Self.options(of: $0), of: $0.owner)) }
    }

    mutating func own(_ name: String, _ json: JSONValue, at pointer: String) -> PlanCondition? {
        switch name {
        case "answered":
            return field(json, at: pointer).map { .test(FieldTest(field: $0.key, rule: .isAnswered)) }
        case "var":
            guard let field = field(json, at: pointer) else { return nil }
            guard kind(of: field) == .truth else {
                refuse("E05", pointer, "Only a field of type boolean can be a condition by itself.", keys: [field.key])
                return nil
            }
            return .test(FieldTest(field: field.key, rule: .isEqual(.value, .truth(true))))
        default: return refuseOperator(name, at: pointer)
        }
    }

    // MARK: Fields

    private typealias Members = [String: JSONValue]

    private mutating func field(_ json: JSONValue, at pointer: String) -> Members? {
        guard let key = json.stringValue else {
            refuse("malformed", pointer, "This must be the key of a field.")
            return nil
        }
        guard let field = library.field(key, in: library.languages[0]) else {
            refuse("E02", pointer, "The library has no field \(key).", keys: [key])
            return nil
        }
        guard !later.contains(key) else {
            refuse("E04", pointer, "The field \(key) is asked for in this step or a later one.", keys: [key])
            return nil
        }
        return field
    }

    /// A field whose value is a set of options.
    private mutating func choices(_ json: JSONValue, at pointer: String) -> Members? {
        guard let field = field(json, at: pointer) else { return nil }
        guard field["type"] == "multi_choice" else {
            refuse("E05", pointer, "The value of this field is not a set of options.", keys: [field.key])
            return nil
        }
        return field
    }

    /// The type as which the field is compared; `nil` if it cannot be.
    private func kind(of field: Members) -> ConditionKind? {
        switch field["type"]?.stringValue {
        case "text", "url": .text
        case "date": .date
        case "integer": .number
        case "boolean": .truth
        case "single_choice": .option(Self.options(of: field), of: field.owner)
        default: nil
        }
    }

    private static func options(of field: Members) -> [String] {
        (field["options"]?.arrayValue ?? []).compactMap { $0["key"]?.stringValue }
    }

    private static func operand(
        _ field: Members, _ kind: ConditionKind, _ measure: ConditionRule.Measure = .value
    ) -> ConditionOperand<FieldTest> {
        let key = field.key
        return ConditionOperand(kind, measure, names: [key]) { FieldTest(field: key, rule: $0) }
    }
}

extension [String: JSONValue] {
    fileprivate var key: String { self["key"]?.stringValue ?? "" }
    fileprivate var owner: String { "The field “\(key)”" }
}
