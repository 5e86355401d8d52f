import Documents

/// Walks through stops of a definition in order, along all paths at once.
///
/// Paths that differ only in answers that no later condition uses are merged into one.
struct PathExplorer {
    /// The most steps of an exploration before it gives up. It limits steps and not time, so that the result is the same on
    /// every machine.
    static let stepLimit = 50_000

    /// The outcomes of the stops so far, as far as later conditions use them.
    struct State: Hashable {
        /// The answer classes of the stops that later conditions use.
        fileprivate var classes: [Int]
        /// Whether a person could complete the questionnaire as far as the exploration has come.
        fileprivate(set) var isDone: Bool
    }

    /// The state of a question on a path.
    struct QuestionState {
        var isVisible: Bool
        var isRequired: Bool
        var offered: [Bool]
    }

    /// For each counter, the least and the most on a path.
    struct Counts: Equatable {
        var least: [Int]
        var most: [Int]

        mutating func widen(by other: Counts) {
            for index in least.indices {
                least[index] = min(least[index], other.least[index])
                most[index] = max(most[index], other.most[index])
            }
        }
    }

    private let map: PathMap
    private let places: [Int]
    private let counters: [Set<Int>]
    /// For each step, the stops that no later step uses.
    private var forgotten: [Set<Int>]
    /// For each step, the tests on its stop that this exploration uses. Answer classes that differ only in other tests are merged.
    private var asked: [[Int]]
    /// The remembered stops, each with the index of its answer class in a path.
    private var slots: [Int: Int] = [:]
    private(set) var states: [State: Counts]

    /// - Parameters:
    ///   - places: stops in order, with all stops on which they depend.
    ///   - end: the conditions to evaluate after the last stop.
    ///   - counters: for each counter, the questions that it counts.
    init(_ map: PathMap, through places: [Int], end: [PathMap.Part], counting counters: [Set<Int>]) {
        (self.map, self.places, self.counters) = (map, places, counters)
        let positions = Dictionary(uniqueKeysWithValues: places.enumerated().map { ($1, $0) })
        asked = Array(repeating: [], count: places.count)
        forgotten = Array(repeating: [], count: places.count)
        var lastUse = Array(places.indices)
        let parts = places.map { map.conditions(at: $0) } + [end]
        for (step, parts) in parts.enumerated() {
            for reference in parts.flatMap(\.references) {
                guard let position = positions[reference.stop] else { continue }
                lastUse[position] = max(lastUse[position], step)
                if !asked[position].contains(reference.test) { asked[position].append(reference.test) }
            }
        }
        for (position, step) in lastUse.enumerated() where step < places.count {
            forgotten[step].insert(places[position])
        }
        let none = Array(repeating: 0, count: counters.count)
        states = [State(classes: [], isDone: true): Counts(least: none, most: none)]
    }

    /// Walks to the end.
    ///
    /// - Parameters:
    ///   - stepsLeft: the steps that this and later explorations may take. The limit ``stepLimit`` holds as well.
    ///   - visit: called at each stop, when all paths have come to it.
    /// - Returns: `false` if there are too many paths. Then what `visit` saw is incomplete.
    mutating func run(_ stepsLeft: inout Int, _ visit: (Int, PathExplorer) -> Void) -> Bool {
        var steps = min(stepsLeft, Self.stepLimit)
        let given = steps
        defer { stepsLeft -= given - steps }
        for (position, place) in places.enumerated() {
            visit(place, self)
            guard advance(position, place, &steps) else { return false }
        }
        return true
    }

    private mutating func advance(_ position: Int, _ place: Int, _ steps: inout Int) -> Bool {
        let remembered = slots.sorted { $0.value < $1.value }.map(\.key)
        let kept = remembered.indices.filter { !forgotten[position].contains(remembered[$0]) }
        let isKept = !forgotten[position].contains(place)
        var states = Successors(kept: kept, isKept: isKept, steps: steps)
        let isWhole =
            switch map.stops[place] {
            case .fact: advance(position, place, &states) { _, _ in map.classes.outcomes(ofFact: place) }
            case .question(let question):
                advance(position, place, &states) { state, counts in outcomes(of: question, on: state, &counts) }
            case .subjects(let section): advance(position, place, through: section, &states)
            }
        steps = states.steps
        guard isWhole else { return false }
        self.states = states.next
        let places = kept.map { remembered[$0] } + (isKept ? [place] : [])
        slots = Dictionary(uniqueKeysWithValues: places.enumerated().map { ($1, $0) })
        return true
    }

    /// Collects the paths after a stop.
    private struct Successors {
        /// The indices of the answer classes that are kept after the stop.
        let kept: [Int]
        /// Whether the stop's own answer class is kept.
        let isKept: Bool
        var steps: Int
        var next: [State: Counts] = [:]

        /// - Returns: `false` if no step is left.
        mutating func spend() -> Bool {
            guard steps > 0 else { return false }
            steps -= 1
            return true
        }

        /// - Returns: `false` if no step is left for the path.
        mutating func add(_ classes: [Int], _ answerClass: Int, isDone: Bool, _ counts: Counts) -> Bool {
            guard spend() else { return false }
            let state = State(classes: isKept ? classes + [answerClass] : classes, isDone: isDone)
            if next[state]?.widen(by: counts) == nil { next[state] = counts }
            return true
        }
    }

    /// - Parameter outcomes: returns the outcomes of the stop on a path, and adds to its counts. `nil` means too many.
    private func advance(
        _ position: Int, _ place: Int, _ next: inout Successors,
        _ outcomes: (State, inout Counts) -> [AnswerClasses.Outcome]?
    ) -> Bool {
        var classes: [Int: Int] = [:]
        var first: [[Bool?]: Int] = [:]
        func same(_ answerClass: Int) -> Int {
            if let known = classes[answerClass] { return known }
            let truths = asked[position].map { map.classes.truths[place][answerClass][$0] }
            let known = first[truths] ?? answerClass
            (first[truths], classes[answerClass]) = (known, known)
            return known
        }
        for (state, before) in states {
            var after = before
            guard let outcomes = outcomes(state, &after) else { return false }
            let classes = next.kept.map { state.classes[$0] }
            for outcome in Set(
                outcomes.map { AnswerClasses.Outcome(answerClass: same($0.answerClass), isDone: $0.isDone) })
            {
                guard next.add(classes, outcome.answerClass, isDone: state.isDone && outcome.isDone, after) else {
                    return false
                }
            }
        }
        return true
    }

    private func outcomes(of place: Int, on state: State, _ counts: inout Counts) -> [AnswerClasses.Outcome]? {
        let shown = questionState(of: place, on: state)
        guard shown.isVisible else {
            return [AnswerClasses.Outcome(answerClass: map.classes.hidden(place), isDone: true)]
        }
        for (index, counter) in counters.enumerated() where counter.contains(place) {
            counts.least[index] += 1
            counts.most[index] += 1
        }
        return map.classes.outcomes(
            of: AnswerClasses.ShownQuestion(place: place, isRequired: shown.isRequired, offered: shown.offered))
    }

    /// The state of a question on a path that has come to it.
    func questionState(of place: Int, on state: State) -> QuestionState {
        let (part, question) = (map.parts[map.stopOf[place]], map.definition.questions[place])
        let isVisible =
            holds(map.sections[map.definition.sectionOf[place]].visibleIf, on: state)
            && holds(part.visibleIf, on: state)
        return QuestionState(
            isVisible: isVisible,
            isRequired: question.required || part.requiredIf != nil && holds(part.requiredIf, on: state),
            offered: part.options.isEmpty
                ? Array(repeating: true, count: question.options.count) : part.options.map { holds($0, on: state) })
    }

    func holds(_ condition: Logic<PathMap.TestReference>?, on state: State) -> Bool {
        condition.map { truth(of: $0, on: state) ?? false } ?? true
    }

    private func truth(of condition: Logic<PathMap.TestReference>, on state: State) -> Bool? {
        condition.truth { reference in
            guard let slot = slots[reference.stop] else { return nil }
            return map.classes.truths[reference.stop][state.classes[slot]][reference.test]
        }
    }

    // MARK: Subjects

    /// Paths that differ only in the answers about one subject.
    private struct Family: Hashable {
        let classes: [Int]
        /// The answer classes that later stops use.
        let kept: [Int]
        let isShown: Bool
    }

    /// Each path has gone through the section for one subject. Several subjects are combinations of such paths.
    private func advance(_ position: Int, _ place: Int, through section: Int, _ next: inout Successors) -> Bool {
        var families: [Family: SubjectOutcomes] = [:]
        let tests = map.classes.tests[place].enumerated().map { number, test -> SubjectsTest? in
            if case .subjects(let test) = test, asked[position].contains(number) { test } else { nil }
        }
        let range = map.definition.sections[section].repetition?.range ?? 0...0
        let around = slots.filter { map.section(of: $0.key) != section }.values.sorted()
        for (state, counts) in states {
            let family = Family(
                classes: around.map { state.classes[$0] }, kept: next.kept.map { state.classes[$0] },
                isShown: holds(map.sections[section].visibleIf, on: state))
            let truths = map.parts[place].options.map { $0.flatMap { truth(of: $0, on: state) } }
            families[family, default: SubjectOutcomes(tests, range, map.classes.today)]
                .add(truths, isDone: state.isDone, counts)
        }
        for (family, states) in families {
            let isWhole = states.gather(isShown: family.isShown, { next.spend() }) { truths, isDone, counts in
                next.add(family.kept, map.classes.answerClass(of: place, truths), isDone: isDone, counts)
            }
            guard isWhole else { return false }
        }
        return true
    }
}
