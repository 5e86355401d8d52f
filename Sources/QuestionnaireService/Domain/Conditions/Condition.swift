import BusProtocol

/// A condition over what stands before it, already held against its definition.
typealias Condition = Logic<ConditionTest>

/// Tests put together by and, or and not.
///
/// Kleene's three values: `nil` is "not known", of what was not answered, is hidden, was skipped or declined.
indirect enum Logic<Test: Sendable & Hashable>: Sendable, Hashable {
    case constant(Bool)
    case not(Logic)
    case all([Logic])
    case any([Logic])
    case test(Test)

    /// - Parameter value: whether a test holds.
    func truth(_ value: (Test) -> Bool?) -> Bool? {
        switch self {
        case .constant(let constant): return constant
        case .not(let inner): return inner.truth(value).map(!)
        case .all(let parts): return Self.joined(by: false, parts) { $0.truth(value) }
        case .any(let parts): return Self.joined(by: true, parts) { $0.truth(value) }
        case .test(let test): return value(test)
        }
    }

    /// "And" where `false` is decisive, "or" where `true` is: one decisive part decides; else one that is not known leaves
    /// the whole not known.
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

    /// Every test in it, in the order in which they stand there.
    var tests: [Test] {
        switch self {
        case .constant: []
        case .not(let inner): inner.tests
        case .all(let parts), .any(let parts): parts.flatMap(\.tests)
        case .test(let test): [test]
        }
    }

    /// The same with other tests in the places of these.
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

/// What a condition asks of one earlier question: a comparison with constants.
struct AnswerTest: Sendable, Hashable {
    enum Rule: Sendable, Hashable {
        /// It has a value. Always known.
        case isAnswered
        /// Its state is one of these. Always known.
        case hasState(Set<String>)
        case isOneOf(Set<Constant>)
        case isBelow(Measure, Constant)
        case isAbove(Measure, Constant)
        case isEqual(Measure, Constant)
        /// At least one of what was chosen is among these.
        case anyIn(Set<String>)
        /// All of what was chosen is among these.
        case allIn(Set<String>)
    }

    /// What of an answer is compared.
    enum Measure: Sendable, Hashable {
        case value
        /// How many were chosen.
        case count
        /// Full years since the date.
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

    /// Its place among the definition's questions.
    let question: Int
    let rule: Rule
}
