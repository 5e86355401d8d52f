/// Goes through some questions of a definition in order, along all ways at once. What differs only in answers that nothing
/// behind looks at any more is one way.
struct PathWalk {
    /// More steps than these, and the walk gives up. A number and no time: the same definition is judged the same
    /// everywhere.
    static let stepLimit = 50_000

    /// What was done about the questions walked through, as far as it still matters.
    struct Way: Hashable {
        /// Of the questions that something behind still looks at.
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
    struct Counts {
        var least: [Int]
        var most: [Int]

        fileprivate mutating func widen(by other: Counts) {
            for index in least.indices {
                least[index] = min(least[index], other.least[index])
                most[index] = max(most[index], other.most[index])
            }
        }
    }

    private let map: PathMap
    private let places: [Int]
    private let counters: [Set<Int>]
    /// For each step, the questions whose answers nothing behind it looks at.
    private var forgotten: [Set<Int>]
    /// For each step, the tests on its question that this walk asks; answers that differ in no other are one.
    private var asked: [[Int]]
    /// The questions that are remembered, by their place: which of a way's cells is theirs.
    private var slots: [Int: Int] = [:]
    private(set) var ways: [Way: Counts]

    /// - Parameters:
    ///   - places: in document order, with all that they depend on.
    ///   - end: conditions that are looked at when everything was walked through.
    ///   - counters: for each thing that is counted, the places that count.
    init(_ map: PathMap, through places: [Int], end: [PathMap.Part], counting counters: [Set<Int>]) {
        (self.map, self.places, self.counters) = (map, places, counters)
        let positions = Dictionary(uniqueKeysWithValues: places.enumerated().map { ($1, $0) })
        asked = Array(repeating: [], count: places.count)
        forgotten = Array(repeating: [], count: places.count)
        var lastUse = Array(places.indices)
        let parts = places.map { [map.questions[$0], map.sections[map.sectionOf[$0]]] } + [end]
        for (step, parts) in parts.enumerated() {
            for look in parts.flatMap(\.looks) {
                guard let position = positions[look.place] else { continue }
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
    ///   - visit: is called when all ways have come to a question, with its place.
    /// - Returns: `false` where there are too many ways; then nothing that was seen is the whole truth.
    mutating func run(_ stepsLeft: inout Int, _ visit: (Int, PathWalk) -> Void) -> Bool {
        var steps = min(stepsLeft, Self.stepLimit)
        let given = steps
        defer { stepsLeft -= given - steps }
        for (position, place) in places.enumerated() {
            visit(place, self)
            guard advance(position, place, adding: counters.map { $0.contains(place) ? 1 : 0 }, &steps) else {
                return false
            }
        }
        return true
    }

    private mutating func advance(_ position: Int, _ place: Int, adding counts: [Int], _ steps: inout Int) -> Bool {
        var next: [Way: Counts] = [:]
        var classes: [Int: Int] = [:]
        var first: [[Bool?]: Int] = [:]
        func same(_ cell: Int) -> Int {
            if let known = classes[cell] { return known }
            let truths = asked[position].map { map.cells.truths[place][cell][$0] }
            let known = first[truths] ?? cell
            (first[truths], classes[cell]) = (known, known)
            return known
        }
        let remembered = slots.sorted { $0.value < $1.value }.map(\.key)
        let kept = remembered.indices.filter { !forgotten[position].contains(remembered[$0]) }
        let isKept = !forgotten[position].contains(place)
        for (way, before) in ways {
            let sight = sight(of: place, on: way)
            var (after, outcomes) = (before, [AnswerCells.Outcome(cell: map.cells.hidden(place), isDone: true)])
            if sight.isVisible {
                let standing = AnswerCells.Standing(
                    place: place, isRequired: sight.isRequired, offered: sight.offered)
                guard let found = map.cells.outcomes(of: standing) else { return false }
                outcomes = found
                for index in counts.indices {
                    after.least[index] += counts[index]
                    after.most[index] += counts[index]
                }
            }
            let cells = kept.map { way.cells[$0] }
            for outcome in Set(outcomes.map { AnswerCells.Outcome(cell: same($0.cell), isDone: $0.isDone) }) {
                guard steps > 0 else { return false }
                steps -= 1
                let way = Way(cells: isKept ? cells + [outcome.cell] : cells, isDone: way.isDone && outcome.isDone)
                if next[way]?.widen(by: after) == nil { next[way] = after }
            }
        }
        ways = next
        let places = kept.map { remembered[$0] } + (isKept ? [place] : [])
        slots = Dictionary(uniqueKeysWithValues: places.enumerated().map { ($1, $0) })
        return true
    }

    /// How a question stands on a way that has come to it.
    func sight(of place: Int, on way: Way) -> Sight {
        let (part, question) = (map.questions[place], map.definition.questions[place])
        let isVisible = holds(map.sections[map.sectionOf[place]].visibleIf, on: way) && holds(part.visibleIf, on: way)
        return Sight(
            isVisible: isVisible,
            isRequired: question.required || part.requiredIf != nil && holds(part.requiredIf, on: way),
            offered: part.options.isEmpty
                ? Array(repeating: true, count: question.options.count) : part.options.map { holds($0, on: way) })
    }

    func holds(_ condition: Logic<PathMap.Look>?, on way: Way) -> Bool {
        guard let condition else { return true }
        return condition.truth { look in
            guard let slot = slots[look.place] else { return nil }
            return map.cells.truths[look.place][way.cells[slot]][look.test]
        } ?? false
    }
}
