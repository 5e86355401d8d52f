/// Tests that are combined by and, or and not.
///
/// It uses Kleene's three-valued logic. `nil` means unknown: the tested operand has no value. Examples are questions
/// that are hidden, skipped, declined or not answered.
package indirect enum Logic<Test: Sendable & Hashable>: Sendable, Hashable {
    /// Always or never.
    case constant(Bool)
    /// The opposite; unknown if the part is unknown.
    case not(Logic)
    /// All of them hold.
    case all([Logic])
    /// At least one of them holds.
    case any([Logic])
    /// One test.
    case test(Test)

    /// Whether it holds; `nil` if that is unknown.
    ///
    /// - Parameter value: returns whether a test holds.
    @inlinable package func truth(_ value: (Test) -> Bool?) -> Bool? {
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
    @inlinable package static func joined<Part>(
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
    @inlinable package var tests: [Test] {
        switch self {
        case .constant: []
        case .not(let inner): inner.tests
        case .all(let parts), .any(let parts): parts.flatMap(\.tests)
        case .test(let test): [test]
        }
    }

    /// The same logic with other tests in place of these.
    @inlinable package func map<Other>(_ change: (Test) -> Other) -> Logic<Other> {
        switch self {
        case .constant(let constant): .constant(constant)
        case .not(let inner): .not(inner.map(change))
        case .all(let parts): .all(parts.map { $0.map(change) })
        case .any(let parts): .any(parts.map { $0.map(change) })
        case .test(let test): .test(change(test))
        }
    }
}
