import BusProtocol
import JSONText

/// What any number of subjects can come to, each of whom can come to the same as one.
struct SubjectOutcomes {
    /// How each test comes out; of tests that only count, and of those that nobody asks, not known.
    typealias Truths = [Bool?]

    /// `nil` for those that nobody asks.
    private let tests: [SubjectsTest?]
    private let range: ClosedRange<Int>
    private let today: CivilDate
    /// What one subject can come to, and of that what leaves nothing required out.
    private var all: [Truths: PathExplorer.Counts] = [:]
    private var done: [Truths: PathExplorer.Counts] = [:]

    /// - Parameter range: how many subjects a questionnaire may be completed with.
    init(_ tests: [SubjectsTest?], _ range: ClosedRange<Int>, _ today: CivilDate) {
        (self.tests, self.range, self.today) = (tests, range, today)
    }

    /// - Parameter truths: of what each test asks of one subject.
    mutating func add(_ truths: Truths, isDone: Bool, _ counts: PathExplorer.Counts) {
        let asked = tests.indices.map { tests[$0]?.condition == nil ? nil : truths[$0] }
        if all[asked]?.widen(by: counts) == nil { all[asked] = counts }
        guard isDone else { return }
        if done[asked]?.widen(by: counts) == nil { done[asked] = counts }
    }

    /// Tells everything that they can come to. What is asked of one of them is counted once, also where there is none.
    ///
    /// - Parameters:
    ///   - spend: takes a step; `false`: none is left.
    ///   - take: is given how the tests come out, and whether nothing required is left out; `false` ends it.
    /// - Returns: `false` where it was ended, or no step is left.
    func gather(isShown: Bool, _ spend: () -> Bool, _ take: (Truths, Bool, PathExplorer.Counts) -> Bool) -> Bool {
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
        _ states: [Truths: PathExplorer.Counts], isDone: Bool, _ spend: () -> Bool,
        _ take: (Truths, Bool, PathExplorer.Counts) -> Bool
    ) -> Bool {
        var (together, isFinal, told) = (states, false, Set<Truths>())
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

    /// What they come to with one more.
    ///
    /// The one more may be asked the same as one who is there, so what they come to without is among it. Where nothing else
    /// is, no further one adds anything.
    ///
    /// - Returns: `nil` where no step is left.
    private func joined(
        _ together: [Truths: PathExplorer.Counts], _ states: [Truths: PathExplorer.Counts], _ spend: () -> Bool
    ) -> (states: [Truths: PathExplorer.Counts], isFinal: Bool)? {
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

    /// What is told of their number.
    private func counted(_ count: Int) -> Truths {
        tests.map { test in
            guard case .count(let rule)? = test?.rule else { return nil }
            return rule.truth(of: .integer(Int64(count)), today: today)
        }
    }

    private var none: Truths {
        zip(tests, counted(0)).map { test, counted in
            switch test?.rule {
            case .any: false
            case .all: true
            case .count, nil: counted
            }
        }
    }
}
