import JSONText

/// A second implementation of conditions, to compare the service with. It follows the text of the rules and reads the
/// JSON of a definition. It has no types and is slow.
struct NaiveQuestionnaire {
    struct Answer: Hashable {
        var state: String
        var value: JSONValue?
    }

    let definition: JSONValue
    let answers: [String: Answer]
    /// By name; what is not there is not known.
    var facts: [String: JSONValue] = [:]
    /// The answers about each child, where a section is asked about each.
    var children: [[String: Answer]] = []
    /// Year, month, day.
    let today = (2026, 3, 1)
    /// The answers about the child that is looked at.
    private var about: [String: Answer] = [:]

    init(
        definition: JSONValue, answers: [String: Answer], facts: [String: JSONValue] = [:],
        children: [[String: Answer]] = []
    ) {
        (self.definition, self.answers, self.facts, self.children) = (definition, answers, facts, children)
    }

    private var sections: [JSONValue] { definition["sections"]?.arrayValue ?? [] }

    func isVisible(_ key: String) -> Bool {
        for section in sections {
            for question in section["questions"]?.arrayValue ?? [] where question["key"]?.stringValue == key {
                return holds(section["visibleIf"]) && holds(question["visibleIf"])
            }
        }
        return false
    }

    func isRequired(_ question: JSONValue) -> Bool {
        question["required"]?.boolValue == true || question["requiredIf"] != nil && holds(question["requiredIf"])
    }

    func options(of question: JSONValue) -> [String] {
        (question["options"]?.arrayValue ?? []).filter { holds($0["visibleIf"]) }.compactMap { $0["key"]?.stringValue }
    }

    /// Unknown at the root is false; no condition is none to break.
    func holds(_ condition: JSONValue?) -> Bool {
        guard let condition, condition != .null else { return true }
        return truth(condition) == "true"
    }

    /// "true", "false" or "unknown".
    private func truth(_ condition: JSONValue) -> String {
        if let constant = condition.boolValue { return constant ? "true" : "false" }
        let (name, operand) = condition.objectValue!.first!
        let parts = operand.arrayValue ?? [operand]
        switch name {
        case "and":
            let truths = parts.map(truth)
            return truths.contains("false") ? "false" : truths.contains("unknown") ? "unknown" : "true"
        case "or":
            let truths = parts.map(truth)
            return truths.contains("true") ? "true" : truths.contains("unknown") ? "unknown" : "false"
        case "not": return ["true": "false", "false": "true", "unknown": "unknown"][truth(parts[0])]!
        case "subjects" where operand["count"] == nil:
            let (name, asked) = operand.objectValue!.first!
            let truths = counted.map { child in
                var naive = self
                naive.about = child
                return naive.truth(asked.arrayValue![1])
            }
            let (decisive, other) = name == "any" ? ("true", "false") : ("false", "true")
            return truths.contains(decisive) ? decisive : truths.contains("unknown") ? "unknown" : other
        case "answered": return isVisible(operand.stringValue!) && value(operand) != nil ? "true" : "false"
        default: break
        }
        let operands = name == "var" ? [condition, true] : parts
        let sides = operands.map { side -> JSONValue? in side.objectValue == nil ? side : term(side) }
        guard let left = sides[0], let right = sides[1] else { return "unknown" }
        return holds(name, left, right) ? "true" : "false"
    }

    private func holds(_ name: String, _ left: JSONValue, _ right: JSONValue) -> Bool {
        switch name {
        case "==", "var": return isEqual(left, right)
        case "!=": return !isEqual(left, right)
        case "in": return right.arrayValue!.contains { isEqual(left, $0) }
        case "any_in": return left.arrayValue!.contains { right.arrayValue!.contains($0) }
        case "all_in": return left.arrayValue!.allSatisfy { right.arrayValue!.contains($0) }
        case "<": return isLess(left, right)
        case ">": return isLess(right, left)
        case "<=": return !isLess(right, left)
        default: return !isLess(left, right)
        }
    }

    private func isEqual(_ a: JSONValue, _ b: JSONValue) -> Bool {
        a == b || a.doubleValue != nil && a.doubleValue == b.doubleValue
    }

    /// Dates of one form have the order of their texts.
    private func isLess(_ a: JSONValue, _ b: JSONValue) -> Bool {
        if let a = a.doubleValue, let b = b.doubleValue { return a < b }
        return a.stringValue! < b.stringValue!
    }

    private func term(_ json: JSONValue) -> JSONValue? {
        let (name, operand) = json.objectValue!.first!
        switch name {
        case "var": return value(operand)
        case "ctx": return facts[operand.stringValue!]
        case "subjects": return .integer(Int64(counted.count))
        case "count": return value(operand["var"]!).map { .integer(Int64($0.arrayValue!.count)) }
        case "state":
            let key = operand.stringValue!
            return .string(isVisible(key) ? answer(key)?.state ?? "unanswered" : "hidden")
        default:
            return value(operand).map { date in
                let parts = date.stringValue!.split(separator: "-").map { Int($0)! }
                let isBefore = today.1 < parts[1] || today.1 == parts[1] && today.2 < parts[2]
                return .integer(Int64(today.0 - parts[0] - (isBefore ? 1 : 0)))
            }
        }
    }

    /// The value of a question that is shown and answered; `nil` otherwise.
    private func value(_ key: JSONValue) -> JSONValue? {
        isVisible(key.stringValue!) ? answer(key.stringValue!)?.value : nil
    }

    private func answer(_ key: String) -> Answer? { about[key] ?? answers[key] }

    /// The children of a section that is shown.
    private var counted: [[String: Answer]] {
        sections.contains { $0["repeat"] != nil && holds($0["visibleIf"]) } ? children : []
    }
}
