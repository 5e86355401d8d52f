import JSONText

/// The type by which a condition compares its operands.
package enum ConditionKind: Sendable, Hashable {
    /// True or false.
    case truth
    /// A number with at most three decimals.
    case number
    /// A date.
    case date
    /// Any text.
    case text
    /// The key of an option. `of` names the owner of the options in messages, such as `The question “pets”`.
    case option([String], of: String)
    /// One of these states.
    case state([String])
    /// One value of a fixed list.
    case listed([String])

    /// The description of a constant of this type, for messages.
    var name: String {
        switch self {
        case .truth: "true or false"
        case .number: "a number with at most three decimals"
        case .date: "a date, “YYYY-MM-DD”"
        case .text: "a text"
        case .option: "an option’s key"
        case .state(let states): "a state: \(states.joined(separator: ", "))"
        case .listed(let values): "one of \(values.joined(separator: ", "))"
        }
    }
}

/// The side of a comparison that is not a constant.
package struct ConditionOperand<Test: Sendable & Hashable> {
    let kind: ConditionKind
    let measure: ConditionRule.Measure
    let names: [String]
    private let make: (ConditionRule) -> Test

    /// - Parameters:
    ///   - kind: the type for the comparison.
    ///   - measure: the part of the operand to compare.
    ///   - names: the keys of the operand, for messages.
    ///   - make: makes a test of the operand by a rule.
    package init(
        _ kind: ConditionKind, _ measure: ConditionRule.Measure = .value, names: [String],
        make: @escaping (ConditionRule) -> Test
    ) { (self.kind, self.measure, self.names, self.make) = (kind, measure, names, make) }

    func test(_ rule: ConditionRule) -> Logic<Test> { .test(make(rule)) }
}

/// Reads conditions from JSON. Each kind of document defines the operands of its conditions.
///
/// A reader converts nothing: a constant must have the type of the other operand. A function that returns `nil` has
/// refused a part.
package protocol ConditionReader: ProblemCollector {
    /// One test of a condition.
    associatedtype Test: Sendable & Hashable

    /// The usual operand of a comparison, for messages: `a question`.
    static var compared: String { get }
    /// The usual operand of a comparison, in JSON: `{"var": question}`.
    static var example: String { get }
    /// The operators that name an operand and are not a condition by themselves, such as `ctx`.
    static var operands: Set<String> { get }

    /// Reads the operand of a comparison.
    ///
    /// - Parameters:
    ///   - name: the only member of an object, such as `ctx`.
    ///   - json: the value of the member.
    ///   - pointer: the pointer to that value.
    mutating func operand(_ name: String, _ json: JSONValue, at pointer: String) -> ConditionOperand<Test>?

    /// Reads the operand of `any_in` and `all_in`, whose value is a set of options.
    mutating func set(_ json: JSONValue, at pointer: String) -> ConditionOperand<Test>?

    /// Reads a condition with an operator that only this kind of document has. It refuses all other operators with
    /// ``refuseOperator(_:at:)``.
    mutating func own(_ name: String, _ json: JSONValue, at pointer: String) -> Logic<Test>?
}

/// The limits of conditions.
package enum ConditionLimits {
    /// How deep operators may be nested.
    package static let depth = 8
    /// The most operators and constants.
    package static let nodes = 64

    /// The size of a condition. Operators and constants are nodes. A list of operands is not a node and adds no depth.
    static func size(of json: JSONValue) -> (depth: Int, nodes: Int) {
        switch json {
        case .object(let members):
            let inner = members.values.map(size)
            return (1 + (inner.map(\.depth).max() ?? 0), 1 + inner.reduce(0) { $0 + $1.nodes })
        case .array(let elements):
            let inner = elements.map(size)
            return (inner.map(\.depth).max() ?? 0, inner.reduce(0) { $0 + $1.nodes })
        default: return (1, 1)
        }
    }
}

extension ConditionReader {
    /// Reads a whole condition.
    package mutating func condition(_ json: JSONValue, at pointer: String) -> Logic<Test>? {
        let size = ConditionLimits.size(of: json)
        guard size.depth <= ConditionLimits.depth, size.nodes <= ConditionLimits.nodes else {
            refuse(
                "malformed", pointer,
                "A condition has at most \(ConditionLimits.nodes) nodes, \(ConditionLimits.depth) deep; this has "
                    + "\(size.nodes), \(size.depth) deep.")
            return nil
        }
        return truth(json, at: pointer)
    }

    // MARK: Truth

    /// Reads a part of a condition that is true or false.
    package mutating func truth(_ json: JSONValue, at pointer: String) -> Logic<Test>? {
        if let constant = json.boolValue { return .constant(constant) }
        guard let (name, operand) = operation(json, at: pointer) else { return nil }
        let inner = "\(pointer)/\(name)"
        switch name {
        case "and": return all(operand, at: inner).map(Logic.all)
        case "or": return all(operand, at: inner).map(Logic.any)
        case "not": return truth(operand, at: inner).map(Logic.not)
        case "==", "!=", "<", "<=", ">", ">=": return comparison(name, operand, at: inner)
        case "in": return membership(operand, at: inner)
        case "any_in", "all_in": return quantified(name, operand, at: inner)
        default: return own(name, operand, at: inner)
        }
    }

    /// Refuses an operator that is no condition by itself, or that does not exist.
    package mutating func refuseOperator(_ name: String, at pointer: String) -> Logic<Test>? {
        if Self.operands.contains(name) {
            refuse("E05", pointer, "“\(name)” is not a condition by itself: compare it.")
        } else {
            refuse("malformed", pointer, "There is no operator “\(name)”.")
        }
        return nil
    }

    private mutating func all(_ json: JSONValue, at pointer: String) -> [Logic<Test>]? {
        guard let parts = json.arrayValue, !parts.isEmpty else {
            refuse("malformed", pointer, "This must be a list of conditions.")
            return nil
        }
        // Parse all parts even after an error, to find all problems.
        let read = parts.enumerated().map { truth($1, at: "\(pointer)/\($0)") }
        return read.contains { $0 == nil } ? nil : read.compactMap(\.self)
    }

    /// The name and the operand of an object with one member.
    package mutating func operation(_ json: JSONValue, at pointer: String) -> (name: String, operand: JSONValue)? {
        if let members = json.objectValue, members.count == 1, let member = members.first {
            return (member.key, member.value)
        }
        refuse("malformed", pointer, "A condition must be true, false, or an object with one operator.")
        return nil
    }

    /// Reads the name of a fact in `{"ctx": name}`.
    ///
    /// - Parameters:
    ///   - kind: the type of a fact by its name; `nil` if a condition cannot use it.
    ///   - make: turns a test of the fact into a test of this kind of document.
    package mutating func fact(
        _ json: JSONValue, at pointer: String, kind: (String) -> ConditionKind?, make: @escaping (FactTest) -> Test
    ) -> ConditionOperand<Test>? {
        guard let name = json.stringValue else {
            refuse("malformed", pointer, "This must be the name of a fact.")
            return nil
        }
        guard let kind = kind(name) else {
            refuse("E02", pointer, "“\(name)” is not a fact that a condition can use.", keys: [name])
            return nil
        }
        return ConditionOperand(kind, names: [name]) { make(FactTest(fact: name, rule: $0)) }
    }
}
