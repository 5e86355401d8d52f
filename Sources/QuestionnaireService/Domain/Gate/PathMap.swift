import BusProtocol
import Documents

/// A definition prepared for ``PathExplorer``: the dependencies of its conditions, and the classes of its answers.
final class PathMap {
    /// The stops of an exploration, one after the other.
    enum Stop: Hashable {
        /// A fact. All facts come first.
        case fact(String)
        /// A question, by its index.
        case question(Int)
        /// The subjects of a repeated section, by its index. The stop follows the section's questions. Its outcomes are
        /// the results of the tests on the subjects.
        case subjects(Int)
    }

    /// A test, by its stop and its index among the tests on that stop.
    struct TestReference: Sendable, Hashable {
        let stop: Int
        let test: Int
    }

    /// The conditions of one question or section.
    struct Part {
        var visibleIf: Logic<TestReference>?
        var requiredIf: Logic<TestReference>?
        /// For each option, its condition. For a stop of subjects: for each test on them, its condition on one subject.
        var options: [Logic<TestReference>?] = []

        var references: [TestReference] {
            ([visibleIf, requiredIf] + options).compactMap(\.self).flatMap(\.tests)
        }
    }

    let definition: Definition
    let classes: AnswerClasses
    let stops: [Stop]
    /// For each question, the index of its stop.
    let stopOf: [Int]
    let sections: [Part]
    /// For each stop, its conditions.
    let parts: [Part]
    /// For each stop, the earlier stops on which it depends, also by its section's condition.
    let causes: [Set<Int>]

    init(_ definition: Definition, today: CivilDate) {
        let (stops, numbers) = Self.stops(of: definition)
        var collector = ReferenceCollector(numbers)
        sections = definition.sections.map { Part(visibleIf: collector.condition($0.visibleIf)) }
        var parts = stops.map { stop -> Part in
            guard case .question(let place) = stop else { return Part() }
            let question = definition.questions[place]
            return Part(
                visibleIf: collector.condition(question.visibleIf),
                requiredIf: collector.condition(question.requiredIf),
                options: question.hasConditionalOptions
                    ? question.options.map { collector.condition($0.visibleIf) } : [])
        }
        for (index, stop) in stops.enumerated() {
            if case .subjects = stop { parts[index].options = collector.inner[index] }
        }
        (self.definition, self.stops, self.parts) = (definition, stops, parts)
        stopOf = definition.questions.indices.map { numbers[.question($0)] ?? 0 }
        classes = AnswerClasses(definition, stops: stops, tests: collector.tests, today: today)
        let sections = sections
        causes = stops.indices.map { index in
            let whole = Self.section(of: stops[index], in: definition).map { sections[$0].references } ?? []
            return Set((parts[index].references + whole).map(\.stop))
        }
    }

    /// The stops. Facts and subjects are among them only if a condition uses them.
    private static func stops(of definition: Definition) -> (stops: [Stop], numbers: [Stop: Int]) {
        let repeated = Set(
            definition.conditions.flatMap(\.allTests).compactMap { test -> Int? in
                if case .subjects(let test) = test { test.section } else { nil }
            })
        var stops = definition.facts.sorted().map(Stop.fact)
        for (index, section) in definition.sections.enumerated() {
            stops += section.questions.map(Stop.question)
            if repeated.contains(index) { stops.append(.subjects(index)) }
        }
        return (stops, Dictionary(uniqueKeysWithValues: stops.enumerated().map { ($1, $0) }))
    }

    /// The index of a stop's section.
    private static func section(of stop: Stop, in definition: Definition) -> Int? {
        switch stop {
        case .fact: nil
        case .question(let place): definition.sectionOf[place]
        case .subjects(let section): section
        }
    }

    func section(of stop: Int) -> Int? { Self.section(of: stops[stop], in: definition) }

    /// The conditions on which a stop depends. For subjects, these are all conditions of their questions, which are the
    /// same for each subject.
    func conditions(at stop: Int) -> [Part] {
        let own = [parts[stop]] + (section(of: stop).map { [sections[$0]] } ?? [])
        guard case .subjects(let section) = stops[stop] else { return own }
        return own + definition.sections[section].questions.map { parts[stopOf[$0]] }
    }

    /// These stops and all stops on which they depend, directly or not, in order.
    func cone(of places: Set<Int>) -> [Int] {
        var (found, next) = (places, Array(places))
        while let place = next.popLast() {
            for cause in causes[place] where found.insert(cause).inserted { next.append(cause) }
        }
        return found.sorted()
    }

    /// The stops in groups, each in order. No stop depends on one of another group.
    var components: [[Int]] {
        var root = Array(stops.indices)
        func find(_ place: Int) -> Int {
            var place = place
            while root[place] != place {
                root[place] = root[root[place]]
                place = root[place]
            }
            return place
        }
        for (place, causes) in causes.enumerated() { for cause in causes { root[find(place)] = find(cause) } }
        return Dictionary(grouping: stops.indices, by: find).values.map { $0.sorted() }.sorted { $0[0] < $1[0] }
    }
}

/// Replaces tests by their numbers.
private struct ReferenceCollector {
    /// For each stop, the tests on it.
    private(set) var tests: [[ConditionTest]]
    /// By stop and test: for subjects, the condition on each of them.
    private(set) var inner: [[Logic<PathMap.TestReference>?]]
    private let stops: [PathMap.Stop: Int]
    private var known: [ConditionTest: PathMap.TestReference] = [:]

    init(_ stops: [PathMap.Stop: Int]) {
        self.stops = stops
        tests = Array(repeating: [], count: stops.count)
        inner = Array(repeating: [], count: stops.count)
    }

    mutating func condition(_ condition: Condition?) -> Logic<PathMap.TestReference>? {
        guard let condition else { return nil }
        for test in condition.tests where known[test] == nil { add(test) }
        return condition.map { known[$0] ?? PathMap.TestReference(stop: 0, test: 0) }
    }

    private mutating func add(_ test: ConditionTest) {
        let stop: PathMap.Stop =
            switch test {
            case .answer(let test): .question(test.question)
            case .fact(let test): .fact(test.fact)
            case .subjects(let test): .subjects(test.section)
            }
        guard let number = stops[stop] else { return }
        known[test] = PathMap.TestReference(stop: number, test: tests[number].count)
        tests[number].append(test)
        guard case .subjects(let subjects) = test else { return }
        let asked = condition(subjects.condition)
        inner[number].append(asked)
    }
}
