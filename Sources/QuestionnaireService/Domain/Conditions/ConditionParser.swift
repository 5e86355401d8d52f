import BusProtocol
import JSONText

/// Reads a condition out of its JSON and holds it against the questions that stand before it.
///
/// Nothing is converted: every operator says what it takes, and a constant has the type of what it is compared with.
struct ConditionParser {
    /// What operands are compared as.
    enum Kind: Equatable {
        case truth, number, date, text
        /// One of the options of the question at that place.
        case option(Int)
        case state

        var name: String {
            switch self {
            case .truth: "true or false"
            case .number: "a number with at most three decimals"
            case .date: "a date, “YYYY-MM-DD”"
            case .text: "a text"
            case .option: "an option’s key"
            case .state: "a state: \(AnswerTest.states.sorted().joined(separator: ", "))"
            }
        }
    }

    static let depthLimit = 8
    static let nodeLimit = 64

    let questions: [Question]
    let places: [String: Int]
    /// How many questions stand before the one that the condition is about.
    let before: Int
    /// Places of questions that are asked once for each of several subjects, and not for the one that this is about.
    let outOfReach: [Range<Int>]
    private(set) var problems: [DefinitionProblem] = []

    init(questions: [Question], places: [String: Int], before: Int, outOfReach: [Range<Int>]) {
        (self.questions, self.places, self.before, self.outOfReach) = (questions, places, before, outOfReach)
    }

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

    mutating func refuse(_ code: String, _ pointer: String, _ message: String, keys: [String] = []) {
        problems.append(DefinitionProblem(code: code, pointer: pointer, message: message, keys: keys))
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

    private mutating func truth(_ json: JSONValue, at pointer: String) -> Condition? {
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
            return question(operand, at: inner).map { .test(AnswerTest(question: $0, rule: .isAnswered)) }
        case "var":
            guard let reference = reference(name, operand, at: inner) else { return nil }
            guard reference.kind == .truth else {
                return mismatch(inner, "Only a question of type boolean is a condition by itself.", reference)
            }
            return .test(AnswerTest(question: reference.question, rule: .isEqual(.value, .truth(true))))
        case "count", "age_years", "state":
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
    private mutating func operation(_ json: JSONValue, at pointer: String) -> (name: String, operand: JSONValue)? {
        if let members = json.objectValue, members.count == 1, let member = members.first {
            // Later forms of the language, which sessions cannot answer yet.
            guard !["ctx", "subjects"].contains(member.key) else {
                refuse("unsupported", "\(pointer)/\(member.key)", "“\(member.key)” is not supported yet.")
                return nil
            }
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
            refuse("E05", pointer, "A comparison is of a question with a constant.")
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
        func test(_ rule: AnswerTest.Rule) -> Condition {
            .test(AnswerTest(question: reference.question, rule: rule))
        }
        if name == "==" || name == "!=" {
            let isEqual = test(
                reference.kind == .state
                    ? .hasState([constant.text]) : .isEqual(reference.measure, constant))
            return name == "==" ? isEqual : .not(isEqual)
        }
        guard [.number, .date].contains(reference.kind) else {
            return mismatch(pointer, "Only numbers and dates have an order.", reference)
        }
        switch name {
        case "<": return test(.isBelow(reference.measure, constant))
        case ">": return test(.isAbove(reference.measure, constant))
        case "<=": return .not(test(.isAbove(reference.measure, constant)))
        default: return .not(test(.isBelow(reference.measure, constant)))
        }
    }

    private mutating func membership(_ json: JSONValue, at pointer: String) -> Condition? {
        guard let (left, list) = listed(json, at: pointer), let reference = term(left, at: "\(pointer)/0") else {
            return nil
        }
        guard let constants = constants(list, like: reference, at: "\(pointer)/1") else { return nil }
        if reference.kind == .state {
            let states = Set(constants.map(\.text))
            return .test(AnswerTest(question: reference.question, rule: .hasState(states)))
        }
        if reference.measure == .value {
            return .test(AnswerTest(question: reference.question, rule: .isOneOf(Set(constants))))
        }
        return .any(
            constants.map {
                .test(AnswerTest(question: reference.question, rule: .isEqual(reference.measure, $0)))
            })
    }

    private mutating func quantified(_ name: String, _ json: JSONValue, at pointer: String) -> Condition? {
        guard let (left, list) = listed(json, at: pointer), let question = set(left, at: "\(pointer)/0") else {
            return nil
        }
        let reference = Reference(question: question, measure: .value, kind: .option(question))
        guard let constants = constants(list, like: reference, at: "\(pointer)/1") else { return nil }
        let keys = Set(constants.map(\.text))
        return .test(AnswerTest(question: question, rule: name == "any_in" ? .anyIn(keys) : .allIn(keys)))
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
            case .text, .option: json.stringValue.map { .text($0) }
            case .state: json.stringValue.flatMap { AnswerTest.states.contains($0) ? .text($0) : nil }
            }
        guard let found else {
            return mismatch(pointer, "This must be \(reference.kind.name).", reference)
        }
        if case .option(let place) = reference.kind, !questions[place].options.contains(where: { $0.key == found.text })
        {
            let key = questions[place].key
            refuse(
                "E03", pointer, "The question “\(key)” has no option “\(found.text)”.", keys: [key, found.text])
            return nil
        }
        return found
    }

    private mutating func mismatch<Value>(_ pointer: String, _ message: String, _ reference: Reference) -> Value? {
        refuse("E05", pointer, message, keys: [questions[reference.question].key])
        return nil
    }
}

extension AnswerTest.Constant {
    /// What stands in a constant that is a text, an option or a state.
    fileprivate var text: String { if case .text(let text) = self { text } else { "" } }
}
