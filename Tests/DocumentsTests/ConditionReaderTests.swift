import BusProtocol
import JSONText
import Testing

@testable import Documents

/// Conditions about facts and about the steps of a plan, neither of which has to do with questions.
private struct StepConditions: ConditionReader {
    enum Test: Sendable, Hashable {
        case fact(FactTest)
        case step(String, ConditionRule)
    }

    static let compared = "a fact"
    static let example = "{\"ctx\": fact}"
    static let operands: Set = ["ctx", "step", "count"]
    static let facts: [String: ConditionKind] = [
        "profile.gender": .option(["woman", "man"], of: "The field “gender”"), "profile.dateOfBirth": .date,
        "profile.height": .number, "app": .listed(["one", "two"]), "profile.tags": .text,
    ]

    var problems: [DocumentProblem] = []

    mutating func refuse(_ problem: DocumentProblem) { problems.append(problem) }

    mutating func operand(_ name: String, _ json: JSONValue, at pointer: String) -> ConditionOperand<Test>? {
        switch name {
        case "ctx": return fact(json, at: pointer, kind: { Self.facts[$0] }, make: { .fact($0) })
        case "step":
            let step = json.stringValue ?? ""
            return ConditionOperand(.state(["done", "skipped"]), names: [step]) { .step(step, $0) }
        case "age_years":
            return ConditionOperand(.number, .age, names: ["born"]) { .fact(FactTest(fact: "born", rule: $0)) }
        default:
            refuse("E05", pointer, "“\(name)” cannot be compared.")
            return nil
        }
    }

    mutating func set(_ json: JSONValue, at pointer: String) -> ConditionOperand<Test>? {
        ConditionOperand(.option(["a", "b"], of: "The field “tags”"), names: ["tags"]) {
            .fact(FactTest(fact: "profile.tags", rule: $0))
        }
    }

    mutating func own(_ name: String, _ json: JSONValue, at pointer: String) -> Logic<Test>? {
        guard name == "answered", let fact = json.stringValue else { return refuseOperator(name, at: pointer) }
        return .test(.fact(FactTest(fact: fact, rule: .isAnswered)))
    }

    static func truth(_ json: JSONValue, _ facts: [String: JSONValue], _ steps: [String: String]) throws -> Bool? {
        var reader = StepConditions()
        guard let condition = reader.condition(json, at: "/when") else {
            throw DocumentError(problems: reader.problems)
        }
        let today = try #require(CivilDate("2026-03-01"))
        return condition.truth { test in
            switch test {
            case .fact(let test):
                test.rule == .isAnswered ? facts[test.fact] != nil : test.truth(of: facts[test.fact], today: today)
            case .step(let step, let rule): rule.truth(state: steps[step] ?? "open", value: nil, today: today)
            }
        }
    }
}

@Suite("conditions of any kind of document") struct ConditionReaderTests {
    @Test(
        arguments: [
            (["==": [["ctx": "profile.gender"], "woman"]], true),
            (["!=": [["ctx": "profile.gender"], "woman"]], false),
            (["==": ["man", ["ctx": "profile.gender"]]], false), (["in": [["ctx": "app"], ["one", "two"]]], true),
            (["<": [["ctx": "profile.height"], 1.8]], true), (["<": [1.8, ["ctx": "profile.height"]]], false),
            ([">=": [["ctx": "profile.height"], 1.75]], true), (["<=": [["ctx": "profile.height"], 1.749]], false),
            ([">": [["ctx": "profile.dateOfBirth"], "2000-01-01"]], nil),
            (["and": [[">": [["ctx": "profile.dateOfBirth"], "2000-01-01"]], false]], false),
            (["or": [[">": [["ctx": "profile.dateOfBirth"], "2000-01-01"]], true]], true),
            (["not": [">": [["ctx": "profile.dateOfBirth"], "2000-01-01"]]], nil),
            (["any_in": [["ctx": "profile.tags"], ["a"]]], true),
            (["all_in": [["ctx": "profile.tags"], ["a"]]], false),
            ([">=": [["age_years": "born"], 18]], true), (["in": [["age_years": "born"], [17, 18]]], true),
            (["==": [["step": "verification"], "done"]], true), (["!=": [["step": "photos"], "done"]], true),
            (["in": [["step": "photos"], ["done", "skipped"]]], false),
            (["answered": "profile.gender"], true), (["answered": "profile.dateOfBirth"], false),
        ] as [(JSONValue, Bool?)])
    func truth(condition: JSONValue, expected: Bool?) throws {
        let facts: [String: JSONValue] = [
            "profile.gender": "woman", "app": "one", "profile.height": 1.75, "profile.tags": ["a", "b"],
            "born": "2008-02-29",
        ]
        #expect(try StepConditions.truth(condition, facts, ["verification": "done"]) == expected)
    }

    @Test(
        arguments: [
            (
                ["==": [["ctx": "weather"], "fine"]],
                "E02 /when/==/0/ctx: “weather” is not a fact that a condition can use."
            ),
            (["==": [["ctx": "profile.gender"], "cat"]], "E03 /when/==/1: The field “gender” has no option “cat”."),
            (["==": [["ctx": "app"], "three"]], "E03 /when/==/1: This must be one of one, two."),
            (
                ["==": [["ctx": "profile.height"], "tall"]],
                "E05 /when/==/1: This must be a number with at most three decimals."
            ),
            (["==": [["step": "photos"], "gone"]], "E05 /when/==/1: This must be a state: done, skipped."),
            (["<": [["step": "photos"], "done"]], "E05 /when/<: Only numbers and dates have an order."),
            (["step": "photos"], "E05 /when/step: “step” is not a condition by itself: compare it."),
            (["xor": [true, true]], "malformed /when/xor: There is no operator “xor”."),
            (
                ["in": [["ctx": "app"], "one"]],
                "malformed /when/in: This must be a list of a fact and a list of constants."
            ),
            (
                ["in": ["app", ["one"]]],
                "malformed /when/in/0: This must be an object with what is compared, such as {\"ctx\": fact}."
            ),
        ] as [(JSONValue, String)])
    func refused(condition: JSONValue, expected: String) {
        var reader = StepConditions()
        #expect(reader.condition(condition, at: "/when") == nil)
        #expect(reader.problems.map { "\($0.code) \($0.pointer): \($0.message)" } == [expected])
    }
}
