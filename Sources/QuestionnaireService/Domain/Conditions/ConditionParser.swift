import BusProtocol
import JSONText

/// Reads a condition out of its JSON and holds it against what stands before it.
///
/// Nothing is converted: every operator says what it takes, and a constant has the type of what it is compared with.
struct ConditionParser {
    /// What operands are compared as.
    enum Kind: Equatable {
        case truth, number, date, text
        /// One of the options of the question at that place.
        case option(Int)
        case state
        /// One of a list that is known.
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

    /// The definition that conditions are held against.
    struct Known {
        let questions: [Question]
        let places: [String: Int]
        let sections: [Definition.Section]
        let locales: [String]
        /// By question: the place of its section.
        let sectionOf: [Int]

        init(questions: [Question], places: [String: Int], sections: [Definition.Section], locales: [String]) {
            (self.questions, self.places, self.sections, self.locales) = (questions, places, sections, locales)
            sectionOf = sections.enumerated().flatMap { index, section in section.questions.map { _ in index } }
        }
    }

    /// From where a condition looks back.
    struct Scope {
        /// How many questions stand before it.
        let before: Int
        /// The place of the section that it stands in, or that is asked about the subject that it is about.
        let section: Int
        /// Of what is asked of each subject: what they are. It looks back from the end of their section.
        var subject: String?
    }

    /// What is wrong and, where a reference does not go backwards, what it leads to.
    typealias Problem = (problem: DefinitionProblem, target: ConditionReferences.Node?)

    static let depthLimit = 8
    static let nodeLimit = 64

    let known: Known
    var scope: Scope
    private(set) var problems: [Problem] = []

    init(_ known: Known, scope: Scope) { (self.known, self.scope) = (known, scope) }

    /// - Returns: `nil` where ``problems`` says why.
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

    /// Operators and constants are nodes. A list of operands is none, and what stands in a list adds no depth of its own.
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
                return mismatch(inner, "Only a question of type boolean is a condition by itself.", reference)
            }
            return reference.test(.isEqual(.value, .truth(true)))
        case "subjects": return subjects(operand, at: inner)
        case "count", "age_years", "state", "ctx":
            refuse("E05", inner, "“\(name)” is no condition by itself: compare it.")
            return nil
        default:
            refuse("malformed", inner, "There is no operator “\(name)”.")
            return nil
        }
    }

    private mutating func all(_ json: JSONValue, at pointer: String) -> [Condition]? {
        guard let parts = json.arrayValue, !parts.isEmpty else {
            refuse("malformed", pointer, "This takes a list of conditions.")
            return nil
        }
        // Every part is read, so that all of their problems are found.
        let read = parts.enumerated().map { truth($1, at: "\(pointer)/\($0)") }
        return read.contains { $0 == nil } ? nil : read.compactMap(\.self)
    }

    /// The name and the operand of an object with one member.
    mutating func operation(_ json: JSONValue, at pointer: String) -> (name: String, operand: JSONValue)? {
        if let members = json.objectValue, members.count == 1, let member = members.first {
            return (member.key, member.value)
        }
        refuse("malformed", pointer, "A condition is true, false, or an object with one operator.")
        return nil
    }

    // MARK: Comparisons

    private mutating func comparison(_ name: String, _ json: JSONValue, at pointer: String) -> Condition? {
        guard let sides = json.arrayValue, sides.count == 2 else {
            refuse("malformed", pointer, "A comparison takes two operands.")
            return nil
        }
        let isReference = sides.map { $0.objectValue != nil }
        guard isReference[0] != isReference[1] else {
            refuse("E05", pointer, "A comparison is of something with a constant.")
            return nil
        }
        let place = isReference[0] ? 0 : 1
        guard let reference = term(sides[place], at: "\(pointer)/\(place)"),
            let constant = constant(sides[1 - place], like: reference, at: "\(pointer)/\(1 - place)")
        else { return nil }
        return comparison(place == 0 ? name : Self.turned[name] ?? name, reference, constant, at: pointer)
    }

    /// What an operator becomes when its operands change places.
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
        refuse("malformed", pointer, "This takes a question and a list of constants.")
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
    /// What stands in a constant that is a text, an option or a state.
    fileprivate var text: String { if case .text(let text) = self { text } else { "" } }
}
