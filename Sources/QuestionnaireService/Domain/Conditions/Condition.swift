import BusProtocol

/// A condition about earlier questions, checked against its definition.
typealias Condition = Logic<ConditionTest>

/// Tests that are combined by and, or and not.
///
/// It uses Kleene's three-valued logic. `nil` means unknown: the question is hidden, or was skipped, declined or not
/// answered.
indirect enum Logic<Test: Sendable & Hashable>: Sendable, Hashable {
    case constant(Bool)
    case not(Logic)
    case all([Logic])
    case any([Logic])
    case test(Test)

    /// - Parameter value: returns whether a test holds.
    func truth(_ value: (Test) -> Bool?) -> Bool? {
        switch self {
        case .constant(let constant): return constant
        case .not(let inner): return inner.truth(value).map(!)
        case .all(let parts): return Self.joined(by: false, parts) { $0.truth(value) }
        case .any(let parts): return Self.joined(by: true, parts) { $0.truth(value) }
        case .test(let test): return value(test)
        }
    }

    /// "And" if `decisive` is `false`, "or" if it is `true`. One decisive part decides. Otherwise, one unknown part
    /// makes the whole unknown.
    static func joined<Part>(
        by decisive: Bool, _ parts: some Sequence<Part>, _ truth: (Part) -> Bool?
    ) -> Bool? {
        var isKnown = true
        for part in parts {
            let truth = truth(part)
            if truth == decisive { return decisive }
            if truth == nil { isKnown = false }
        }
        return isKnown ? !decisive : nil
    }

    /// All tests, in the order of the condition.
    var tests: [Test] {
        switch self {
        case .constant: []
        case .not(let inner): inner.tests
        case .all(let parts), .any(let parts): parts.flatMap(\.tests)
        case .test(let test): [test]
        }
    }

    /// The same logic with other tests in place of these.
    func map<Other>(_ change: (Test) -> Other) -> Logic<Other> {
        switch self {
        case .constant(let constant): .constant(constant)
        case .not(let inner): .not(inner.map(change))
        case .all(let parts): .all(parts.map { $0.map(change) })
        case .any(let parts): .any(parts.map { $0.map(change) })
        case .test(let test): .test(change(test))
        }
    }
}

/// A test of one earlier question: a comparison of its answer with constants.
struct AnswerTest: Sendable, Hashable {
    enum Rule: Sendable, Hashable {
        /// The question has a value. The result is never unknown.
        case isAnswered
        /// The question's state is one of these. The result is never unknown.
        case hasState(Set<String>)
        case isOneOf(Set<Constant>)
        case isBelow(Measure, Constant)
        case isAbove(Measure, Constant)
        case isEqual(Measure, Constant)
        /// At least one chosen option is among these.
        case anyIn(Set<String>)
        /// All chosen options are among these.
        case allIn(Set<String>)
    }

    /// The part of an answer that is compared.
    enum Measure: Sendable, Hashable {
        case value
        /// The number of chosen options.
        case count
        /// The full years since the date.
        case age
    }

    /// The other side of a comparison.
    enum Constant: Sendable, Hashable {
        case truth(Bool)
        case number(Thousandths)
        case date(CivilDate)
        /// A text, or an option by its key.
        case text(String)
    }

    /// The index of the question in the definition.
    let question: Int
    let rule: Rule
}
