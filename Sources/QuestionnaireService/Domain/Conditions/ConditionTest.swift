import BusProtocol
import JSONText

/// One test of a condition.
enum ConditionTest: Sendable, Hashable {
    case answer(AnswerTest)
    case fact(FactTest)
    case subjects(SubjectsTest)
}

/// A test of a fact. The result is unknown if the fact is.
struct FactTest: Sendable, Hashable {
    /// The name of the fact, such as `locale`.
    let fact: String
    let rule: AnswerTest.Rule

    /// - Parameter value: `nil` and `null` mean unknown.
    func truth(of value: JSONValue?, today: CivilDate) -> Bool? {
        value.flatMap { $0 == .null ? nil : rule.truth(of: $0, today: today) }
    }
}

/// A test of all subjects of a section that ends before the condition.
struct SubjectsTest: Sendable, Hashable {
    enum Rule: Sendable, Hashable {
        /// A rule for the number of subjects, which is 0 for a hidden section. The result is never unknown.
        case count(AnswerTest.Rule)
        /// The condition holds for at least one subject. Without subjects, the result is `false`.
        indirect case any(Condition)
        /// The condition holds for every subject. Without subjects, the result is `true`.
        indirect case all(Condition)
    }

    /// The index of the section in the definition.
    let section: Int
    let rule: Rule

    /// The condition on each subject; `nil` if they are only counted.
    var condition: Condition? {
        switch rule {
        case .count: nil
        case .any(let condition), .all(let condition): condition
        }
    }
}

extension Logic<ConditionTest> {
    /// All tests, including those on each subject.
    var allTests: [ConditionTest] {
        tests.flatMap { test -> [ConditionTest] in
            guard case .subjects(let subjects) = test else { return [test] }
            return [test] + (subjects.condition?.allTests ?? [])
        }
    }
}
