import Documents

/// One test of a condition.
enum ConditionTest: Sendable, Hashable {
    case answer(AnswerTest)
    case fact(FactTest)
    case subjects(SubjectsTest)
}

/// A test of all subjects of a section that ends before the condition.
struct SubjectsTest: Sendable, Hashable {
    enum Rule: Sendable, Hashable {
        /// A rule for the number of subjects, which is 0 for a hidden section. The result is never unknown.
        case count(ConditionRule)
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
