import BusProtocol
import JSONText

extension ConditionReader {
    mutating func comparison(_ name: String, _ json: JSONValue, at pointer: String) -> Logic<Test>? {
        guard let sides = json.arrayValue, sides.count == 2 else {
            refuse("malformed", pointer, "A comparison needs two operands.")
            return nil
        }
        let isOperand = sides.map { $0.objectValue != nil }
        guard isOperand[0] != isOperand[1] else {
            refuse("E05", pointer, "Exactly one operand must be a constant.")
            return nil
        }
        let place = isOperand[0] ? 0 : 1
        guard let operand = term(sides[place], at: "\(pointer)/\(place)"),
            let constant = constant(sides[1 - place], like: operand, at: "\(pointer)/\(1 - place)")
        else { return nil }
        // The operator to use after swapping the sides.
        let turned = ["<": ">", "<=": ">=", ">": "<", ">=": "<="]
        return comparison(place == 0 ? name : turned[name] ?? name, operand, constant, at: pointer)
    }

    private mutating func comparison(
        _ name: String, _ operand: ConditionOperand<Test>, _ constant: ConditionRule.Constant, at pointer: String
    ) -> Logic<Test>? {
        let measure = operand.measure
        if name == "==" || name == "!=" {
            let isEqual = operand.test(
                operand.kind.isState ? .hasState([constant.text]) : .isEqual(measure, constant))
            return name == "==" ? isEqual : .not(isEqual)
        }
        guard [.number, .date].contains(operand.kind) else {
            return mismatch(pointer, "Only numbers and dates have an order.", operand)
        }
        switch name {
        case "<": return operand.test(.isBelow(measure, constant))
        case ">": return operand.test(.isAbove(measure, constant))
        case "<=": return .not(operand.test(.isAbove(measure, constant)))
        default: return .not(operand.test(.isBelow(measure, constant)))
        }
    }

    mutating func membership(_ json: JSONValue, at pointer: String) -> Logic<Test>? {
        guard let (left, list) = listed(json, at: pointer), let operand = term(left, at: "\(pointer)/0"),
            let constants = constants(list, like: operand, at: "\(pointer)/1")
        else { return nil }
        if operand.kind.isState { return operand.test(.hasState(Set(constants.map(\.text)))) }
        if operand.measure == .value { return operand.test(.isOneOf(Set(constants))) }
        return .any(constants.map { operand.test(.isEqual(operand.measure, $0)) })
    }

    mutating func quantified(_ name: String, _ json: JSONValue, at pointer: String) -> Logic<Test>? {
        guard let (left, list) = listed(json, at: pointer), let operand = set(left, at: "\(pointer)/0"),
            let constants = constants(list, like: operand, at: "\(pointer)/1")
        else { return nil }
        let keys = Set(constants.map(\.text))
        return operand.test(name == "any_in" ? .anyIn(keys) : .allIn(keys))
    }

    private mutating func listed(_ json: JSONValue, at pointer: String) -> (left: JSONValue, list: [JSONValue])? {
        if let sides = json.arrayValue, sides.count == 2, let list = sides[1].arrayValue, !list.isEmpty {
            return (sides[0], list)
        }
        refuse("malformed", pointer, "This must be a list of \(Self.compared) and a list of constants.")
        return nil
    }

    /// Reads the operand of a comparison, such as `{"ctx": fact}`.
    private mutating func term(_ json: JSONValue, at pointer: String) -> ConditionOperand<Test>? {
        guard let members = json.objectValue, members.count == 1, let (name, inner) = members.first else {
            refuse("malformed", pointer, "This must be an object with what is compared, such as \(Self.example).")
            return nil
        }
        return operand(name, inner, at: "\(pointer)/\(name)")
    }

    // MARK: Constants

    private mutating func constants(
        _ list: [JSONValue], like operand: ConditionOperand<Test>, at pointer: String
    ) -> [ConditionRule.Constant]? {
        let read = list.enumerated().map { constant($1, like: operand, at: "\(pointer)/\($0)") }
        return read.contains { $0 == nil } ? nil : read.compactMap(\.self)
    }

    private mutating func constant(
        _ json: JSONValue, like operand: ConditionOperand<Test>, at pointer: String
    ) -> ConditionRule.Constant? {
        let found: ConditionRule.Constant? =
            switch operand.kind {
            case .truth: json.boolValue.map { .truth($0) }
            case .number: Thousandths(json).map { .number($0) }
            case .date: json.stringValue.flatMap { CivilDate($0) }.map { .date($0) }
            case .text, .option, .listed: json.stringValue.map { .text($0) }
            case .state(let states): json.stringValue.flatMap { states.contains($0) ? .text($0) : nil }
            }
        guard let found else { return mismatch(pointer, "This must be \(operand.kind.name).", operand) }
        switch operand.kind {
        case .listed(let values) where !values.contains(found.text):
            refuse("E03", pointer, "This must be \(operand.kind.name).", keys: operand.names + [found.text])
            return nil
        case .option(let options, let owner) where !options.contains(found.text):
            refuse("E03", pointer, "\(owner) has no option “\(found.text)”.", keys: operand.names + [found.text])
            return nil
        default: return found
        }
    }

    private mutating func mismatch<Value>(
        _ pointer: String, _ message: String, _ operand: ConditionOperand<Test>
    ) -> Value? {
        refuse("E05", pointer, message, keys: operand.names)
        return nil
    }
}

extension ConditionKind {
    fileprivate var isState: Bool { if case .state = self { true } else { false } }
}
