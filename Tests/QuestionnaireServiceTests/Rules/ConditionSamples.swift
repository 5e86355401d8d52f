import JSONText

/// A definition for tests about conditions: the same options, strings and section for every question.
enum Sample {
    static func definition(_ questions: [JSONValue], sectionIf: JSONValue = .null) -> JSONValue {
        definition(sections: [section("first", questions, visibleIf: sectionIf)])
    }

    static func definition(
        sections: [JSONValue], dimensions: [JSONValue] = [], locales: [String] = ["en"]
    ) -> JSONValue {
        let hasOptions = sections.contains { $0["questions"]?.arrayValue?.contains { $0["options"] != nil } == true }
        let strings: JSONValue = hasOptions ? ["q": "A text", "o": "An option"] : ["q": "A text"]
        return [
            "key": "yoked-compat", "version": 4, "titleKey": "q", "locales": .array(locales.map { .string($0) }),
            "defaultLocale": "en", "dimensions": .array(dimensions), "sections": .array(sections),
            "strings": .object(Dictionary(uniqueKeysWithValues: locales.map { ($0, strings) })),
        ]
    }

    static func section(_ key: String, _ questions: [JSONValue], visibleIf: JSONValue = .null) -> JSONValue {
        ["key": .string(key), "visibleIf": visibleIf, "questions": .array(questions)]
    }

    /// A section that is asked about each child.
    static func children(
        _ range: ClosedRange<Int64>, _ questions: [JSONValue], visibleIf: JSONValue = .null
    ) -> JSONValue {
        section("children", questions, visibleIf: visibleIf).setting(
            "repeat", to: ["subject": "child", "min": .integer(range.lowerBound), "max": .integer(range.upperBound)])
    }

    /// - Parameter options: keys; the last member says which may be left out of the definition.
    static func question(
        _ key: String, _ type: String, options: [String] = ["a", "b", "c"], _ members: JSONValue = [:]
    ) -> JSONValue {
        var all: [String: JSONValue] = ["key": .string(key), "type": .string(type), "textKey": "q"]
        if ["single_choice", "multi_choice", "ranking", "tags"].contains(type) {
            all["options"] = .array(options.map { ["key": .string($0), "labelKey": "o"] })
        }
        if type == "slider" { all["constraints"] = ["min": 0, "max": 4, "step": 1] }
        return .object(all.merging(members.objectValue ?? [:]) { $1 })
    }
}

/// The same numbers from the same seed, so that a failure can be looked at again. Source: G. Steele and others, "Fast
/// Splittable Pseudorandom Number Generators", 2014.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// Conditions by chance, each of the right types for the questions given.
struct RandomConditions {
    var generator: SeededGenerator
    /// Facts that they look at, too.
    var facts: [String] = []
    /// What the section about each child asks, where it stands before, and what stands before it.
    var children: [JSONValue] = []
    var parents: [JSONValue] = []

    /// What each fact is compared with.
    static let constants: [String: [JSONValue]] = [
        "locale": ["en", "sv"], "platform": ["ios", "android", "web"], "profile.country": ["SE", "GB"],
    ]

    /// What each fact can be; not known beside that.
    static let values: [String: [JSONValue]] = [
        "locale": ["en", "sv", "de"], "platform": ["ios", "android", "web"], "profile.country": ["SE", "GB", "FR"],
    ]

    mutating func condition(over questions: [JSONValue], depth: Int = 2) -> JSONValue {
        guard depth > 0, Bool.random(using: &generator) else { return test(of: questions, depth: depth) }
        let count = Int.random(in: 1...3, using: &generator)
        let parts = (0..<count).map { _ in condition(over: questions, depth: depth - 1) }
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: return ["and": .array(parts)]
        case 1: return ["or": .array(parts)]
        default: return ["not": parts[0]]
        }
    }

    private mutating func test(of questions: [JSONValue], depth: Int) -> JSONValue {
        if let fact = facts.randomElement(using: &generator), Int.random(in: 0..<4, using: &generator) == 0 {
            return compare(["ctx": .string(fact)], Self.constants[fact] ?? [], ["==", "!="])
        }
        if !children.isEmpty, Int.random(in: 0..<2, using: &generator) == 0 { return testOfChildren(depth: depth) }
        let question = questions.randomElement(using: &generator) ?? [:]
        let (key, type) = (question["key"] ?? "", question["type"]?.stringValue ?? "")
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: return ["answered": key]
        case 1:
            let states: [JSONValue] = ["unanswered", "answered", "skipped", "declined", "acknowledged", "hidden"]
            return compare(["state": key], states, ["==", "!="])
        default: return valueTest(key, type)
        }
    }

    private mutating func testOfChildren(depth: Int) -> JSONValue {
        let all = ["==", "!=", "<", "<=", ">", ">="]
        let name = ["count", "any", "all"].randomElement(using: &generator) ?? ""
        guard name != "count" else { return compare(["subjects": ["count": "child"]], [0, 1, 2, 3], all) }
        // The condition on a child sees only that child and the answers before the section.
        var inner = self
        inner.children = []
        let asked = inner.condition(
            over: Bool.random(using: &inner.generator) ? children : children + parents, depth: min(1, depth))
        generator = inner.generator
        return ["subjects": [name: ["child", asked]]]
    }

    private mutating func valueTest(_ key: JSONValue, _ type: String) -> JSONValue {
        let all = ["==", "!=", "<", "<=", ">", ">="]
        switch type {
        case "single_choice": return compare(["var": key], ["a", "b", "c"], ["==", "!="])
        case "text": return compare(["var": key], ["x", "y"], ["==", "!="])
        case "boolean": return Bool.random(using: &generator) ? ["var": key] : compare(["var": key], [true], ["!="])
        case "slider": return compare(["var": key], [0, 1, 2.5, 3], all)
        case "date":
            return Bool.random(using: &generator)
                ? compare(["var": key], ["2000-01-01", "2010-06-15"], all) : compare(["age_years": key], [16, 26], all)
        default:
            let keys = ["a", "b", "c"].shuffled(using: &generator).prefix(Int.random(in: 1...2, using: &generator))
            let list = JSONValue.array(keys.map { .string($0) })
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: return ["any_in": [["var": key], list]]
            case 1: return ["all_in": [["var": key], list]]
            default: return compare(["count": ["var": key]], [1, 2], all)
            }
        }
    }

    private mutating func compare(_ term: JSONValue, _ constants: [JSONValue], _ operators: [String]) -> JSONValue {
        let name = operators.randomElement(using: &generator) ?? ""
        let constant = constants.randomElement(using: &generator) ?? .null
        if name == "==", Bool.random(using: &generator) {
            return ["in": [term, .array(constants.shuffled(using: &generator).prefix(2).map(\.self))]]
        }
        return [name: Bool.random(using: &generator) ? [term, constant] : [constant, term]]
    }
}
