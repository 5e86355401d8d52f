/// Goes through some stops of a definition in order, along all ways at once. What differs only in answers that nothing
/// behind looks at any more is one way.
struct PathWalk {
    /// More steps than these, and the walk gives up. A number and no time: the same definition is judged the same
    /// everywhere.
    static let stepLimit = 50_000

    /// What was done about the stops walked through, as far as it still matters.
    struct Way: Hashable {
        /// Of the stops that something behind still looks at.
        fileprivate var cells: [Int]
        /// Whether a person could complete the questionnaire, as far as it was walked through.
        fileprivate(set) var isDone: Bool
    }

    /// How a question stands on a way.
    struct Sight {
        var isVisible: Bool
        var isRequired: Bool
        var offered: [Bool]
    }

    /// For each thing that is counted, the least and the most that a way has of it.
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
    /// For each step, the stops that nothing behind it looks at.
    private var forgotten: [Set<Int>]
    /// For each step, the tests on its stop that this walk asks; what differs in no other is one.
    private var asked: [[Int]]
    /// The stops that are remembered: which of a way's cells is theirs.
    private var slots: [Int: Int] = [:]
    private(set) var ways: [Way: Counts]

    /// - Parameters:
    ///   - places: stops in order, with all that they depend on.
    ///   - end: conditions that are looked at when everything was walked through.
    ///   - counters: for each thing that is counted, the questions that count.
    init(_ map: PathMap, through places: [Int], end: [PathMap.Part], counting counters: [Set<Int>]) {
        (self.map, self.places, self.counters) = (map, places, counters)
        let positions = Dictionary(uniqueKeysWithValues: places.enumerated().map { ($1, $0) })
        asked = Array(repeating: [], count: places.count)
        forgotten = Array(repeating: [], count: places.count)
        var lastUse = Array(places.indices)
        let parts = places.map { map.conditions(at: $0) } + [end]
        for (step, parts) in parts.enumerated() {
            for look in parts.flatMap(\.looks) {
                guard let position = positions[look.stop] else { continue }
                lastUse[position] = max(lastUse[position], step)
                if !asked[position].contains(look.test) { asked[position].append(look.test) }
            }
        }
        for (position, step) in lastUse.enumerated() where step < places.count {
            forgotten[step].insert(places[position])
        }
        let none = Array(repeating: 0, count: counters.count)
        ways = [Way(cells: [], isDone: true): Counts(least: none, most: none)]
    }

    /// Goes to the end.
    ///
    /// - Parameters:
    ///   - stepsLeft: what this and later walks may take; beside ``stepLimit``.
    ///   - visit: is called when all ways have come to a stop.
    /// - Returns: `false` where there are too many ways; then nothing that was seen is the whole truth.
    mutating func run(_ stepsLeft: inout Int, _ visit: (Int, PathWalk) -> Void) -> Bool {
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
        var ways = Ways(kept: kept, isKept: isKept, steps: steps)
        let isWhole =
            switch map.stops[place] {
            case .fact: advance(position, place, &ways) { _, _ in map.cells.outcomes(ofFact: place) }
            case .question(let question):
                advance(position, place, &ways) { way, counts in outcomes(of: question, on: way, &counts) }
            case .subjects(let section): advance(position, place, through: section, &ways)
            }
        steps = ways.steps
        guard isWhole else { return false }
        self.ways = ways.next
        let places = kept.map { remembered[$0] } + (isKept ? [place] : [])
        slots = Dictionary(uniqueKeysWithValues: places.enumerated().map { ($1, $0) })
        return true
    }

    /// The ways behind a stop, while they are found.
    private struct Ways {
        /// Which cells are remembered behind the stop.
        let kept: [Int]
        /// Whether the stop's own is.
        let isKept: Bool
        var steps: Int
        var next: [Way: Counts] = [:]

        /// - Returns: `false` where no step is left.
        mutating func spend() -> Bool {
            guard steps > 0 else { return false }
            steps -= 1
            return true
        }

        /// - Returns: `false` where no step is left for it.
        mutating func add(_ cells: [Int], _ cell: Int, isDone: Bool, _ counts: Counts) -> Bool {
            guard spend() else { return false }
            let way = Way(cells: isKept ? cells + [cell] : cells, isDone: isDone)
            if next[way]?.widen(by: counts) == nil { next[way] = counts }
            return true
        }
    }

    /// - Parameter outcomes: what can become of the stop on a way, whose counts it adds to; `nil` where that is too much.
    private func advance(
        _ position: Int, _ place: Int, _ next: inout Ways, _ outcomes: (Way, inout Counts) -> [AnswerCells.Outcome]?
    ) -> Bool {
        var classes: [Int: Int] = [:]
        var first: [[Bool?]: Int] = [:]
        func same(_ cell: Int) -> Int {
            if let known = classes[cell] { return known }
            let truths = asked[position].map { map.cells.truths[place][cell][$0] }
            let known = first[truths] ?? cell
            (first[truths], classes[cell]) = (known, known)
            return known
        }
        for (way, before) in ways {
            var after = before
            guard let outcomes = outcomes(way, &after) else { return false }
            let cells = next.kept.map { way.cells[$0] }
            for outcome in Set(outcomes.map { AnswerCells.Outcome(cell: same($0.cell), isDone: $0.isDone) }) {
                guard next.add(cells, outcome.cell, isDone: way.isDone && outcome.isDone, after) else { return false }
            }
        }
        return true
    }

    private func outcomes(of place: Int, on way: Way, _ counts: inout Counts) -> [AnswerCells.Outcome]? {
        let sight = sight(of: place, on: way)
        guard sight.isVisible else { return [AnswerCells.Outcome(cell: map.cells.hidden(place), isDone: true)] }
        for (index, counter) in counters.enumerated() where counter.contains(place) {
            counts.least[index] += 1
            counts.most[index] += 1
        }
        return map.cells.outcomes(
            of: AnswerCells.Standing(place: place, isRequired: sight.isRequired, offered: sight.offered))
    }

    /// How a question stands on a way that has come to it.
    func sight(of place: Int, on way: Way) -> Sight {
        let (part, question) = (map.parts[map.stopOf[place]], map.definition.questions[place])
        let isVisible =
            holds(map.sections[map.definition.sectionOf[place]].visibleIf, on: way) && holds(part.visibleIf, on: way)
        return Sight(
            isVisible: isVisible,
            isRequired: question.required || part.requiredIf != nil && holds(part.requiredIf, on: way),
            offered: part.options.isEmpty
                ? Array(repeating: true, count: question.options.count) : part.options.map { holds($0, on: way) })
    }

    func holds(_ condition: Logic<PathMap.Look>?, on way: Way) -> Bool {
        condition.map { truth(of: $0, on: way) ?? false } ?? true
    }

    private func truth(of condition: Logic<PathMap.Look>, on way: Way) -> Bool? {
        condition.truth { look in
            guard let slot = slots[look.stop] else { return nil }
            return map.cells.truths[look.stop][way.cells[slot]][look.test]
        }
    }

    // MARK: Subjects

    /// Ways that differ in what one subject was asked, and in nothing else that decided about it.
    private struct Family: Hashable {
        let cells: [Int]
        /// Of these, those that still matter.
        let kept: [Int]
        let isShown: Bool
    }

    /// Each way has come here with one subject. Any number of them is what any of those ways together come to.
    private func advance(_ position: Int, _ place: Int, through section: Int, _ next: inout Ways) -> Bool {
        var families: [Family: SubjectWays] = [:]
        let tests = map.cells.tests[place].enumerated().map { number, test -> SubjectsTest? in
            if case .subjects(let test) = test, asked[position].contains(number) { test } else { nil }
        }
        let range = map.definition.sections[section].repetition?.range ?? 0...0
        let around = slots.filter { map.section(of: $0.key) != section }.values.sorted()
        for (way, counts) in ways {
            let family = Family(
                cells: around.map { way.cells[$0] }, kept: next.kept.map { way.cells[$0] },
                isShown: holds(map.sections[section].visibleIf, on: way))
            let truths = map.parts[place].options.map { $0.flatMap { truth(of: $0, on: way) } }
            families[family, default: SubjectWays(tests, range, map.cells.today)]
                .add(truths, isDone: way.isDone, counts)
        }
        for (family, ways) in families {
            let isWhole = ways.gather(isShown: family.isShown, { next.spend() }) { truths, isDone, counts in
                next.add(family.kept, map.cells.cell(of: place, truths), isDone: isDone, counts)
            }
            guard isWhole else { return false }
        }
        return true
    }
}
