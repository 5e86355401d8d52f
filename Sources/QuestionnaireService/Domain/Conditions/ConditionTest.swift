import BusProtocol
import JSONText

/// One thing that a condition asks.
enum ConditionTest: Sendable, Hashable {
    case answer(AnswerTest)
    case fact(FactTest)
    case subjects(SubjectsTest)
}

/// What a condition asks of a fact that no question asks for. Not known where nobody told it.
struct FactTest: Sendable, Hashable {
    /// Its name, `locale`, say.
    let fact: String
    let rule: AnswerTest.Rule

    /// - Parameter value: `nil` and `null`: not known.
    func truth(of value: JSONValue?, today: CivilDate) -> Bool? {
        value.flatMap { $0 == .null ? nil : rule.truth(of: $0, today: today) }
    }
}

/// What a condition asks of all subjects of a section that stands wholly before it.
struct SubjectsTest: Sendable, Hashable {
    enum Rule: Sendable, Hashable {
        /// How many there are; none of a section that is hidden. Always known.
        case count(AnswerTest.Rule)
        /// It holds for one of them at least; for none of nobody.
        indirect case any(Condition)
        /// It holds for each of them; for each of nobody.
        indirect case all(Condition)
    }

    /// Its place among the definition's sections.
    let section: Int
    let rule: Rule

    /// What is asked of each of them; `nil` where they are only counted.
    var condition: Condition? {
        switch rule {
        case .count: nil
        case .any(let condition), .all(let condition): condition
        }
    }
}

extension Logic<ConditionTest> {
    /// Every test in it, and those on each subject.
    var allTests: [ConditionTest] {
        tests.flatMap { test -> [ConditionTest] in
            guard case .subjects(let subjects) = test else { return [test] }
            return [test] + (subjects.condition?.allTests ?? [])
        }
    }
}
