import BusProtocol
import JSONText

/// The possible results of the tests on any number of subjects. Each subject can have the results of a single one.
struct SubjectOutcomes {
    /// The result of each test; `nil` for tests that only count, and for tests that are not used.
    typealias TestResults = [Bool?]

    /// The tests; `nil` for those that are not used.
    private let tests: [SubjectsTest?]
    private let range: ClosedRange<Int>
    private let today: CivilDate
    /// The results for one subject. `done` has those in which nothing required is missing.
    private var all: [TestResults: PathExplorer.Counts] = [:]
    private var done: [TestResults: PathExplorer.Counts] = [:]

    /// - Parameter range: how many subjects a questionnaire may be completed with.
    init(_ tests: [SubjectsTest?], _ range: ClosedRange<Int>, _ today: CivilDate) {
        (self.tests, self.range, self.today) = (tests, range, today)
    }

    /// - Parameter truths: the result of each test's condition on one subject.
    mutating func add(_ truths: TestResults, isDone: Bool, _ counts: PathExplorer.Counts) {
        let asked = tests.indices.map { tests[$0]?.condition == nil ? nil : truths[$0] }
        if all[asked]?.widen(by: counts) == nil { all[asked] = counts }
        guard isDone else { return }
        if done[asked]?.widen(by: counts) == nil { done[asked] = counts }
    }

    /// Passes on all possible results. The questions about one subject are counted once, even if there is no subject.
    ///
    /// - Parameters:
    ///   - spend: takes a step, and returns `false` if none is left.
    ///   - take: gets the results of the tests, whether nothing required is missing, and the counts. `false` ends it.
    /// - Returns: `false` if it was ended or no step is left.
    func gather(isShown: Bool, _ spend: () -> Bool, _ take: (TestResults, Bool, PathExplorer.Counts) -> Bool) -> Bool {
        for (states, isDone) in [(done, true), (all, false)] {
            guard var counts = states.values.first else { continue }
            for other in states.values { counts.widen(by: other) }
            let mayBeNone = !isShown || !isDone || range.contains(0)
            if mayBeNone, !take(none, isDone, counts) { return false }
            guard isShown else { continue }
            guard several(states, isDone: isDone, spend, take) else { return false }
        }
        return true
    }

    private func several(
        _ states: [TestResults: PathExplorer.Counts], isDone: Bool, _ spend: () -> Bool,
        _ take: (TestResults, Bool, PathExplorer.Counts) -> Bool
    ) -> Bool {
        var (together, isFinal, told) = (states, false, Set<TestResults>())
        for count in 1...range.upperBound {
            if count > 1, !isFinal {
                guard let grown = joined(together, states, spend) else { return false }
                (together, isFinal) = grown
            }
            if isDone, !range.contains(count) { continue }
            let counted = counted(count)
            if isFinal, !told.insert(counted).inserted { continue }
            for (truths, counts) in together {
                guard take(zip(counted, truths).map { $0 ?? $1 }, isDone, counts) else { return false }
            }
        }
        return true
    }

    /// The results with one more subject.
    ///
    /// They include the results without it, since it may answer like another subject. If there is no other result,
    /// further subjects add nothing: then `isFinal` is `true`.
    ///
    /// - Returns: `nil` if no step is left.
    private func joined(
        _ together: [TestResults: PathExplorer.Counts], _ states: [TestResults: PathExplorer.Counts],
        _ spend: () -> Bool
    ) -> (states: [TestResults: PathExplorer.Counts], isFinal: Bool)? {
        var (joined, isFinal) = (together, true)
        for (truths, counts) in together {
            for (one, own) in states {
                guard spend() else { return nil }
                let sum = tests.indices.map { both($0, truths[$0], one[$0]) }
                var wider = joined[sum] ?? counts
                wider.widen(by: counts)
                wider.widen(by: own)
                if joined[sum] != wider { (joined[sum], isFinal) = (wider, false) }
            }
        }
        return (joined, isFinal)
    }

    private func both(_ test: Int, _ a: Bool?, _ b: Bool?) -> Bool? {
        switch tests[test]?.rule {
        case .any: Condition.joined(by: true, [a, b]) { $0 }
        case .all: Condition.joined(by: false, [a, b]) { $0 }
        case .count, nil: nil
        }
    }

    /// The results of the tests on the number of subjects.
    private func counted(_ count: Int) -> TestResults {
        tests.map { test in
            guard case .count(let rule)? = test?.rule else { return nil }
            return rule.truth(of: .integer(Int64(count)), today: today)
        }
    }

    private var none: TestResults {
        zip(tests, counted(0)).map { test, counted in
            switch test?.rule {
            case .any: false
            case .all: true
            case .count, nil: counted
            }
        }
    }
}
