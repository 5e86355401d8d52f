import BusProtocol
import Documents

/// The result of the publish gate for a definition.
struct GateReport: Sendable, Equatable {
    /// The problems that keep it from being published.
    var problems: [DefinitionProblem] = []
    /// Possible mistakes. W1: a condition always holds. W2: something is never seen. W3: the numbers of questions
    /// differ from the declared ones. W4: something could not be decided.
    var warnings: [DefinitionProblem] = []
    /// How many questions the shortest path shows; `nil` if there are too many paths. `longest` is the same for the
    /// longest.
    var shortest: Int?
    var longest: Int?
}

/// Finds problems that no single question shows. These are conditions that never hold, and questions that nobody sees
/// or can answer.
///
/// Every result is exact for the day of the check. If that would take too many steps, W4 says so instead. A repeated
/// section is checked for one subject, and what follows it for any number of subjects.
///
/// Questions that depend on each other are explored together. If that takes too many steps, each is checked
/// separately, with the stops on which it depends.
struct PublishGate {
    let map: PathMap
    private(set) var report = GateReport()
    /// The sections whose condition never holds. Their questions get no warning of their own.
    private var hiddenSections = Set<Int>()
    /// The steps left for all explorations together, so that every check ends in bounded time.
    private var stepsLeft = 1_000_000

    /// The declared numbers of questions, and of required questions among them.
    struct Declared: Sendable, Hashable {
        var total: Int
        var required: Int
    }

    /// - Parameters:
    ///   - today: the day on which ages are calculated.
    ///   - declared: `nil` if nothing was declared.
    static func check(_ definition: Definition, today: CivilDate, declared: Declared?) -> GateReport {
        var gate = PublishGate(map: PathMap(definition, today: today))
        if let declared { gate.compare(declared) }
        gate.checkPaths()
        return gate.report
    }

    private init(map: PathMap) { self.map = map }

    private mutating func compare(_ declared: Declared) {
        let questions = map.definition.questions
        let (total, required) = (questions.count(where: \.isCounted), questions.count(where: \.required))
        guard (total, required) != (declared.total, declared.required) else { return }
        warn(
            "W3", "/sections",
            "There are \(total) questions, \(required) of them required. Declared are \(declared.total) and "
                + "\(declared.required).", keys: [])
    }

    // MARK: Walks

    /// Checks every question, and the shortest and the longest path. For each dimension it checks the fewest questions
    /// on a path that count towards it.
    private mutating func checkPaths() {
        let (definition, questions) = (map.definition, map.definition.questions)
        let counted = Set(questions.indices.filter { questions[$0].isCounted })
        let counters =
            [counted]
            + definition.dimensions.map { dimension in
                Set(questions.indices.filter { questions[$0].weights[dimension.key] != nil })
            }
        var (least, most) = (counters.map { _ in 0 }, counters.map { _ in 0 })
        var unmeasured: [Int] = []
        for component in map.components {
            guard let counts = check(component, counting: counters) else {
                unmeasured += component
                continue
            }
            for index in counters.indices {
                least[index] += counts.map { $0.least[index] }.min() ?? 0
                most[index] += counts.map { $0.most[index] }.max() ?? 0
            }
        }
        guard unmeasured.isEmpty else {
            return warn(
                "W4", "/sections", "There are too many combinations of answers to measure the paths.",
                keys: keys(Set(unmeasured)))
        }
        (report.shortest, report.longest) = (least[0], most[0])
        for (index, dimension) in definition.dimensions.enumerated()
        where most[index + 1] == 0 || least[index + 1] < dimension.minAnswered {
            refuse(
                "E13", "/dimensions/\(index)",
                "On some path only \(least[index + 1]) questions count towards this, and on none more than "
                    + "\(most[index + 1]).", keys: [dimension.key])
        }
    }

    /// - Returns: the counts of the paths that can be completed; `nil` if there are too many paths.
    private mutating func check(_ component: [Int], counting counters: [Set<Int>]) -> [PathExplorer.Counts]? {
        let before = (report, hiddenSections)
        var (explorer, steps) = (PathExplorer(map, through: component, end: [], counting: counters), stepsLeft)
        let isWhole = explorer.run(&steps) { stop, explorer in
            if case .question(let place) = map.stops[stop] { look(at: place, on: explorer) }
        }
        stepsLeft = steps
        guard isWhole else {
            (report, hiddenSections) = before
            for stop in component { if case .question(let place) = map.stops[stop] { checkAlone(place) } }
            return nil
        }
        return explorer.states.filter(\.key.isDone).map(\.value)
    }

    private mutating func look(at place: Int, on explorer: PathExplorer) {
        if isFirst(place) { judge(section: map.definition.sectionOf[place], on: explorer) }
        judge(question: place, on: explorer)
    }

    private mutating func checkAlone(_ place: Int) {
        let section = map.definition.sectionOf[place]
        let (part, whole) = (map.parts[map.stopOf[place]], map.sections[section])
        if isFirst(place), whole.visibleIf != nil,
            let explorer = explore(
                to: Set(whole.references.map(\.stop)), end: [whole], at: "/sections/\(section)/visibleIf")
        {
            judge(section: section, on: explorer)
        }
        if let explorer = explore(to: map.causes[map.stopOf[place]], end: [part, whole], at: pointer(place)) {
            judge(question: place, on: explorer)
        }
    }

    private mutating func explore(to causes: Set<Int>, end: [PathMap.Part], at pointer: String) -> PathExplorer? {
        var explorer = PathExplorer(map, through: map.cone(of: causes), end: end, counting: [])
        if explorer.run(&stepsLeft, { _, _ in }) { return explorer }
        warn(
            "W4", pointer, "There are too many combinations of answers to check this.",
            keys: keys(causes))
        return nil
    }

    private func isFirst(_ place: Int) -> Bool {
        map.definition.sections[map.definition.sectionOf[place]].questions.lowerBound == place
    }

    // MARK: Verdicts

    private mutating func judge(section: Int, on explorer: PathExplorer) {
        let part = map.sections[section]
        judge(
            part.visibleIf, on: explorer, at: "/sections/\(section)/visibleIf",
            keys: keys(Set(part.references.map(\.stop)))
        )
        if !explorer.states.keys.contains(where: { explorer.holds(part.visibleIf, on: $0) }) {
            hiddenSections.insert(section)
        }
    }

    private mutating func judge(question place: Int, on explorer: PathExplorer) {
        let (part, question) = (map.parts[map.stopOf[place]], map.definition.questions[place])
        let (pointer, keys) = (pointer(place), keys(map.causes[map.stopOf[place]]))
        judge(part.visibleIf, on: explorer, at: "\(pointer)/visibleIf", keys: keys)
        judge(part.requiredIf, on: explorer, at: "\(pointer)/requiredIf", keys: keys)
        for (index, condition) in part.options.enumerated() {
            judge(condition, on: explorer, at: "\(pointer)/options/\(index)/visibleIf", keys: keys)
        }
        let states = explorer.states.keys.map {
            (isDone: $0.isDone, question: explorer.questionState(of: place, on: $0))
        }
        let seen = states.filter(\.question.isVisible)
        guard !seen.isEmpty else { return neverSeen(place, keys: keys) }
        checkBranches(place, seen.map(\.question), keys: keys)
        checkAnswers(question, place, seen.filter(\.isDone).map(\.question), keys: keys)
    }

    private mutating func neverSeen(_ place: Int, keys: [String]) {
        let question = map.definition.questions[place]
        if question.required || question.requiredIf != nil {
            refuse(
                "E07", pointer(place), "This question is required, but nobody ever sees it.",
                keys: [question.key] + keys)
        } else if !hiddenSections.contains(map.definition.sectionOf[place]) {
            warn("W2", pointer(place), "Nobody ever sees this question.", keys: [question.key] + keys)
        }
    }

    /// Finds conditions of a question and its options that have the same result whenever the question is seen.
    private mutating func checkBranches(_ place: Int, _ seen: [PathExplorer.QuestionState], keys: [String]) {
        let (part, question) = (map.parts[map.stopOf[place]], map.definition.questions[place])
        for (index, condition) in part.options.enumerated()
        where condition != nil && !seen.contains(where: { $0.offered[index] }) {
            warn(
                "W2", "\(pointer(place))/options/\(index)", "Nobody who sees the question is offered this option.",
                keys: [question.key, question.options[index].key] + keys)
        }
        if part.requiredIf != nil, !question.required, !seen.contains(where: \.isRequired) {
            warn(
                "W2", "\(pointer(place))/requiredIf", "Nobody who sees the question has to answer it.",
                keys: [question.key] + keys)
        }
    }

    private mutating func checkAnswers(
        _ question: Question, _ place: Int, _ seen: [PathExplorer.QuestionState], keys: [String]
    ) {
        let keys = [question.key] + keys
        if question.kind.hasOptions, seen.contains(where: { !$0.offered.contains(true) }) {
            refuse(
                "E10", "\(pointer(place))/options", "On some path this question is asked without any option.",
                keys: keys)
        }
        let dead = seen.contains { shown in
            question.isCounted && shown.isRequired
                && !map.classes.hasAnswer(
                    AnswerClasses.ShownQuestion(place: place, isRequired: true, offered: shown.offered))
        }
        if dead {
            refuse("E09", pointer(place), "On some path this question is required but has no valid answer.", keys: keys)
        }
    }

    private mutating func judge(
        _ condition: Logic<PathMap.TestReference>?, on explorer: PathExplorer, at pointer: String, keys: [String]
    ) {
        guard let condition else { return }
        if !explorer.states.keys.contains(where: { explorer.holds(condition, on: $0) }) {
            refuse("E06", pointer, "This condition can never hold.", keys: keys)
        } else if explorer.states.keys.allSatisfy({ !$0.isDone || explorer.holds(condition, on: $0) }) {
            warn("W1", pointer, "This condition holds on every path.", keys: keys)
        }
    }

    // MARK: Telling

    private func pointer(_ place: Int) -> String {
        let section = map.definition.sectionOf[place]
        return "/sections/\(section)/questions/\(place - map.definition.sections[section].questions.lowerBound)"
    }

    private func keys(_ stops: Set<Int>) -> [String] {
        stops.sorted().map { stop in
            switch map.stops[stop] {
            case .fact(let name): name
            case .question(let place): map.definition.questions[place].key
            case .subjects(let section): map.definition.sections[section].key
            }
        }
    }

    private mutating func refuse(_ code: String, _ pointer: String, _ message: String, keys: [String]) {
        report.problems.append(DefinitionProblem(code: code, pointer: pointer, message: message, keys: keys))
    }

    private mutating func warn(_ code: String, _ pointer: String, _ message: String, keys: [String]) {
        report.warnings.append(DefinitionProblem(code: code, pointer: pointer, message: message, keys: keys))
    }
}
