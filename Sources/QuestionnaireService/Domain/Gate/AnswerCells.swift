import BusProtocol
import JSONText

/// The answers to each question of a definition, those put together for which every test on the question comes out the
/// same. A cell is known by its number.
final class AnswerCells {
    /// What can become of a question.
    struct Outcome: Hashable {
        let cell: Int
        /// Whether a person can leave it so and be done with the question.
        let isDone: Bool
    }

    /// How a question stands before it is answered.
    struct Standing: Hashable {
        let place: Int
        let isRequired: Bool
        /// For each option.
        let offered: [Bool]
    }

    let definition: Definition
    let today: CivilDate
    /// Every test that looks at a question, by the question's place.
    let tests: [[AnswerTest]]
    /// By place and cell: how each test comes out.
    private(set) var truths: [[[Bool?]]]
    private var numbers: [[[Bool?]: Int]]
    private var known: [Standing: [Outcome]?] = [:]
    private var answers: [Standing: Bool] = [:]

    init(_ definition: Definition, tests: [[AnswerTest]], today: CivilDate) {
        (self.definition, self.tests, self.today) = (definition, tests, today)
        truths = Array(repeating: [], count: tests.count)
        numbers = Array(repeating: [:], count: tests.count)
    }

    func hidden(_ place: Int) -> Int { cell(of: place, state: AnswerTest.hidden, value: nil) }

    /// Everything that can become of a question that is shown; `nil` where it is too much to go through.
    func outcomes(of standing: Standing) -> [Outcome]? {
        if let known = known[standing] { return known }
        let found = find(standing)
        known[standing] = found
        return found
    }

    /// Whether there is a valid answer.
    func hasAnswer(_ standing: Standing) -> Bool {
        if let known = answers[standing] { return known }
        let question = seen(standing)
        // Without tests no option is like another, and one of each number is enough.
        let samples = AnswerSamples(question: question, tests: [], today: today).values
        let found = samples.map { !$0.isEmpty } ?? true
        answers[standing] = found
        return found
    }

    private func seen(_ standing: Standing) -> Question {
        var question = definition.questions[standing.place]
        question.options = zip(question.options, standing.offered).filter(\.1).map(\.0)
        return question
    }

    private func find(_ standing: Standing) -> [Outcome]? {
        let (place, question) = (standing.place, seen(standing))
        var found = Set<Outcome>()
        let standard = question.suggestionCounts ? question.suggestion : nil
        func add(_ state: AnswerState?, _ value: JSONValue? = nil, isDone: Bool) {
            let name = state?.rawValue ?? AnswerTest.unanswered
            found.insert(Outcome(cell: cell(of: place, state: name, value: value), isDone: isDone))
        }
        guard let values = AnswerSamples(question: question, tests: tests[place], today: today).values else {
            return nil
        }
        for value in values { add(.answered, value, isDone: true) }
        // Where a required question has no answer, that is said of it once, and not of everything behind it.
        let isDead = question.isCounted && standing.isRequired && values.isEmpty && !question.declinable
        add(nil, standard, isDone: !standing.isRequired || isDead || standard != nil)
        // What was skipped before it was required stands so until somebody comes back to it.
        if question.skippable { add(.skipped, isDone: !standing.isRequired) }
        if question.declinable { add(.declined, isDone: true) }
        if !question.required || standard != nil {
            add(.acknowledged, standard, isDone: !standing.isRequired || standard != nil)
        }
        return found.sorted { ($0.cell, $0.isDone ? 0 : 1) < ($1.cell, $1.isDone ? 0 : 1) }
    }

    private func cell(of place: Int, state: String, value: JSONValue?) -> Int {
        let truths = tests[place].map { $0.truth(state: state, value: value, today: today) }
        if let known = numbers[place][truths] { return known }
        let number = self.truths[place].count
        numbers[place][truths] = number
        self.truths[place].append(truths)
        return number
    }
}
