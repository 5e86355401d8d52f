import Documents
import JSONText

/// Parses a condition from its JSON and checks it against the questions before it.
struct ConditionParser: ConditionReader {
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

    static let compared = "a question"
    static let example = "{\"var\": question}"
    static let operands: Set = ["count", "age_years", "state", "ctx"]

    let known: Known
    var scope: Scope
    private(set) var problems: [Problem] = []

    init(_ known: Known, scope: Scope) { (self.known, self.scope) = (known, scope) }

    mutating func refuse(_ problem: DefinitionProblem) { problems.append((problem, nil)) }

    /// Refuses a reference to a question or section that does not come before the condition.
    mutating func refuseLater(
        _ pointer: String, _ message: String, _ key: String, target: ConditionReferences.Node
    ) {
        problems.append((DefinitionProblem(code: "E04", pointer: pointer, message: message, keys: [key]), target))
    }

    mutating func own(_ name: String, _ json: JSONValue, at pointer: String) -> Condition? {
        switch name {
        case "answered":
            return question(json, at: pointer).map { .test(.answer(AnswerTest(question: $0, rule: .isAnswered))) }
        case "var":
            guard let place = question(json, at: pointer), value(of: place, at: pointer) != nil else { return nil }
            guard known.questions[place].kind == .boolean else {
                refuse(
                    "E05", pointer, "Only a question of type boolean can be a condition by itself.",
                    keys: [known.questions[place].key])
                return nil
            }
            return .test(.answer(AnswerTest(question: place, rule: .isEqual(.value, .truth(true)))))
        case "subjects": return subjects(json, at: pointer)
        default: return refuseOperator(name, at: pointer)
        }
    }
}
