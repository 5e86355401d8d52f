import BusProtocol
import JSONText

/// Parses a condition from its JSON and checks it against the questions before it.
///
/// It converts nothing: a constant must have the type of what it is compared with.
struct ConditionParser {
    /// The type as which operands are compared.
    enum Kind: Equatable {
        case truth, number, date, text
        /// An option of the question with this index.
        case option(Int)
        case state
        /// One value of a fixed list.
        case listed([String])

        var name: String {
            switch self {
            case .truth: "true or false"
            case .number: "a number with at most three decimals"
            case .date: "a date, “YYYY-MM-DD”"
            case .text: "a text"
            case .option: "an option’s key"
            case .state: "a state: \(AnswerTest.states.sorted().joined(separator: ", "))"
            case .listed(let values): "one of \(values.joined(separator: ", "))"
            }
        }
    }

    /// The definition against which conditions are checked.
    struct Known {
        let questions: [Question]
        let places: [String: Int]
        let sections: [Definition.Section]
        let locales: [String]
        /// For each question, the index of its section.
        let sectionOf: [Int]

        init(questions: [Question], places: [String: Int], sections: [Definition.Section], locales: [String]) {
            (self.questions, self.places, self.sections, self.locales) = (questions, places, sections, locales)
            sectionOf = sections.enumerated().flatMap { index, section in section.questions.map { _ in index } }
        }
    }

    /// The questions that a condition can use.
    struct Scope {
        /// How many questions come before it.
        let before: Int
        /// The index of its section. For a condition on each subject: of the section that is repeated for them.
        let section: Int
        /// For a condition on each subject: the subject. It can use all questions of the repeated section.
        var subject: String?
    }

    /// A problem and, for a reference to a later question, the target of the reference.
    typealias Problem = (problem: DefinitionProblem, target: ConditionReferences.Node?)

    static let depthLimit = 8
    static let nodeLimit = 64

    let known: Known
    var scope: Scope
    private(set) var problems: [Problem] = []

    init(_ known: Known, scope: Scope) { (self.known, self.scope) = (known, scope) }

    /// - Returns: `nil` if there are ``problems``.
    mutating func condition(_ json: JSONValue, at pointer: String) -> Condition? {
        let size = Self.size(of: json)
        guard size.depth <= Self.depthLimit, size.nodes <= Self.nodeLimit else {
            refuse(
                "malformed", pointer,
                "A condition has at most \(Self.nodeLimit) nodes, \(Self.depthLimit) deep; this has \(size.nodes), "
                    + "\(size.depth) deep.")
            return nil
        }
        return truth(json, at: pointer)
    }

    mutating func refuse(
        _ code: String, _ pointer: String, _ message: String, keys: [String] = [],
        target: ConditionReferences.Node? = nil
    ) {
        problems.append((DefinitionProblem(code: code, pointer: pointer, message: message, keys: keys), target))
    }

    /// The size of a condition. Operators and constants are nodes. A list of operands is not a node and adds no depth.
    private static func size(of json: JSONValue) -> (depth: Int, nodes: Int) {
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

    // MARK: Truth

    mutating func truth(_ json: JSONValue, at pointer: String) -> Condition? {
        if let constant = json.boolValue { return .constant(constant) }
        guard let (name, operand) = operation(json, at: pointer) else { return nil }
        let inner = "\(pointer)/\(name)"
        switch name {
        case "and": return all(operand, at: inner).map(Condition.all)
        case "or": return all(operand, at: inner).map(Condition.any)
        case "not": return truth(operand, at: inner).map(Condition.not)
        case "==", "!=", "<", "<=", ">", ">=": return comparison(name, operand, at: inner)
        case "in": return membership(operand, at: inner)
        case "any_in", "all_in": return quantified(name, operand, at: inner)
        case "answered":
            return question(operand, at: inner).map { .test(.answer(AnswerTest(question: $0, rule: .isAnswered))) }
        case "var":
            guard let reference = reference(name, operand, at: inner) else { return nil }
            guard reference.kind == .truth else {
                return mismatch(inner, "Only a question of type boolean can be a condition by itself.", reference)
            }
            return reference.test(.isEqual(.value, .truth(true)))
        case "subjects": return subjects(operand, at: inner)
        case "count", "age_years", "state", "ctx":
            refuse("E05", inner, "“\(name)” is not a condition by itself: compare it.")
            return nil
        default:
            refuse("malformed", inner, "There is no operator “\(name)”.")
            return nil
        }
    }

    private mutating func all(_ json: JSONValue, at pointer: String) -> [Condition]? {
        guard let parts = json.arrayValue, !parts.isEmpty else {
            refuse("malformed", pointer, "This must be a list of conditions.")
            return nil
        }
        // All parts are parsed even after an error, so that all problems are found.
        let read = parts.enumerated().map { truth($1, at: "\(pointer)/\($0)") }
        return read.contains { $0 == nil } ? nil : read.compactMap(\.self)
    }

    /// The name and the operand of an object with one member.
    mutating func operation(_ json: JSONValue, at pointer: String) -> (name: String, operand: JSONValue)? {
        if let members = json.objectValue, members.count == 1, let member = members.first {
            return (member.key, member.value)
        }
        refuse("malformed", pointer, "A condition must be true, false, or an object with one operator.")
        return nil
    }

    // MARK: Comparisons

    private mutating func comparison(_ name: String, _ json: JSONValue, at pointer: String) -> Condition? {
        guard let sides = json.arrayValue, sides.count == 2 else {
            refuse("malformed", pointer, "A comparison needs two operands.")
            return nil
        }
        let isReference = sides.map { $0.objectValue != nil }
        guard isReference[0] != isReference[1] else {
            refuse("E05", pointer, "Exactly one operand must be a constant.")
            return nil
        }
        let place = isReference[0] ? 0 : 1
        guard let reference = term(sides[place], at: "\(pointer)/\(place)"),
            let constant = constant(sides[1 - place], like: reference, at: "\(pointer)/\(1 - place)")
        else { return nil }
        return comparison(place == 0 ? name : Self.turned[name] ?? name, reference, constant, at: pointer)
    }

    /// The operator to use after swapping the operands.
    private static let turned = ["<": ">", "<=": ">=", ">": "<", ">=": "<="]

    private mutating func comparison(
        _ name: String, _ reference: Reference, _ constant: AnswerTest.Constant, at pointer: String
    ) -> Condition? {
        if name == "==" || name == "!=" {
            let isEqual = reference.test(
                reference.kind == .state
                    ? .hasState([constant.text]) : .isEqual(reference.measure, constant))
            return name == "==" ? isEqual : .not(isEqual)
        }
        guard [.number, .date].contains(reference.kind) else {
            return mismatch(pointer, "Only numbers and dates have an order.", reference)
        }
        switch name {
        case "<": return reference.test(.isBelow(reference.measure, constant))
        case ">": return reference.test(.isAbove(reference.measure, constant))
        case "<=": return .not(reference.test(.isAbove(reference.measure, constant)))
        default: return .not(reference.test(.isBelow(reference.measure, constant)))
        }
    }

    private mutating func membership(_ json: JSONValue, at pointer: String) -> Condition? {
        guard let (left, list) = listed(json, at: pointer), let reference = term(left, at: "\(pointer)/0") else {
            return nil
        }
        guard let constants = constants(list, like: reference, at: "\(pointer)/1") else { return nil }
        if reference.kind == .state {
            let states = Set(constants.map(\.text))
            return reference.test(.hasState(states))
        }
        if reference.measure == .value { return reference.test(.isOneOf(Set(constants))) }
        return .any(constants.map { reference.test(.isEqual(reference.measure, $0)) })
    }

    private mutating func quantified(_ name: String, _ json: JSONValue, at pointer: String) -> Condition? {
        guard let (left, list) = listed(json, at: pointer), let question = set(left, at: "\(pointer)/0") else {
            return nil
        }
        let reference = Reference(source: .question(question), measure: .value, kind: .option(question))
        guard let constants = constants(list, like: reference, at: "\(pointer)/1") else { return nil }
        let keys = Set(constants.map(\.text))
        return reference.test(name == "any_in" ? .anyIn(keys) : .allIn(keys))
    }

    private mutating func listed(_ json: JSONValue, at pointer: String) -> (left: JSONValue, list: [JSONValue])? {
        if let sides = json.arrayValue, sides.count == 2, let list = sides[1].arrayValue, !list.isEmpty {
            return (sides[0], list)
        }
        refuse("malformed", pointer, "This must be a list of a question and a list of constants.")
        return nil
    }

    // MARK: Constants

    private mutating func constants(
        _ list: [JSONValue], like reference: Reference, at pointer: String
    ) -> [AnswerTest.Constant]? {
        let read = list.enumerated().map { constant($1, like: reference, at: "\(pointer)/\($0)") }
        return read.contains { $0 == nil } ? nil : read.compactMap(\.self)
    }

    private mutating func constant(
        _ json: JSONValue, like reference: Reference, at pointer: String
    ) -> AnswerTest.Constant? {
        let found: AnswerTest.Constant? =
            switch reference.kind {
            case .truth: json.boolValue.map { .truth($0) }
            case .number: Thousandths(json).map { .number($0) }
            case .date: json.stringValue.flatMap { CivilDate($0) }.map { .date($0) }
            case .text, .option, .listed: json.stringValue.map { .text($0) }
            case .state: json.stringValue.flatMap { AnswerTest.states.contains($0) ? .text($0) : nil }
            }
        guard let found else {
            return mismatch(pointer, "This must be \(reference.kind.name).", reference)
        }
        if case .listed(let values) = reference.kind, !values.contains(found.text) {
            refuse(
                "E03", pointer, "This must be \(reference.kind.name).", keys: names(of: reference) + [found.text])
            return nil
        }
        if case .option(let place) = reference.kind,
            !known.questions[place].options.contains(where: { $0.key == found.text })
        {
            let key = known.questions[place].key
            refuse(
                "E03", pointer, "The question “\(key)” has no option “\(found.text)”.", keys: [key, found.text])
            return nil
        }
        return found
    }

    private mutating func mismatch<Value>(_ pointer: String, _ message: String, _ reference: Reference) -> Value? {
        refuse("E05", pointer, message, keys: names(of: reference))
        return nil
    }
}

extension AnswerTest.Constant {
    /// The text of a constant that is a text, an option or a state.
    fileprivate var text: String { if case .text(let text) = self { text } else { "" } }
}
