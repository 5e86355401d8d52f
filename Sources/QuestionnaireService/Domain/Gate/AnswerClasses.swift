import BusProtocol
import JSONText

/// The answers to each question of a definition, those put together for which every test on the question comes out the
/// same; and so for facts and for subjects. A cell is known by its number.
final class AnswerClasses {
    /// What can become of a question.
    struct Outcome: Hashable {
        let answerClass: Int
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
    /// Every test that looks at a stop of the ``PathMap``.
    let tests: [[ConditionTest]]
    /// By stop and cell: how each test comes out.
    private(set) var truths: [[[Bool?]]]
    /// By the question's place.
    private let asked: [[AnswerTest]]
    private let stopOf: [Int]
    private var numbers: [[[Bool?]: Int]]
    private var known: [Standing: [Outcome]?] = [:]
    private var answers: [Standing: Bool] = [:]

    init(_ definition: Definition, stops: [PathMap.Stop], tests: [[ConditionTest]], today: CivilDate) {
        (self.definition, self.tests, self.today) = (definition, tests, today)
        truths = Array(repeating: [], count: tests.count)
        numbers = Array(repeating: [:], count: tests.count)
        let places = stops.indices.filter { if case .question = stops[$0] { true } else { false } }
        stopOf = places
        asked = places.map { tests[$0].compactMap { if case .answer(let test) = $0 { test } else { nil } } }
    }

    func hidden(_ place: Int) -> Int { answerClass(of: place, state: AnswerTest.hidden, value: nil) }

    /// Everything that a fact can be: each value that is asked for, any other where there may be one, and not known.
    func outcomes(ofFact stop: Int) -> [Outcome] {
        let tests = tests[stop].compactMap { if case .fact(let test) = $0 { test } else { nil } }
        let classes = SessionFact.samples(tests).map { value in
            answerClass(of: stop, tests.map { $0.truth(of: value, today: today) })
        }
        return Set(classes).sorted().map { Outcome(answerClass: $0, isDone: true) }
    }

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
            found.insert(Outcome(answerClass: answerClass(of: place, state: name, value: value), isDone: isDone))
        }
        guard let values = AnswerSamples(question: question, tests: asked[place], today: today).values else {
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
        return found.sorted { ($0.answerClass, $0.isDone ? 0 : 1) < ($1.answerClass, $1.isDone ? 0 : 1) }
    }

    private func answerClass(of place: Int, state: String, value: JSONValue?) -> Int {
        answerClass(of: stopOf[place], asked[place].map { $0.truth(state: state, value: value, today: today) })
    }

    /// The cell in which the tests on a stop come out so.
    func answerClass(of stop: Int, _ truths: [Bool?]) -> Int {
        if let known = numbers[stop][truths] { return known }
        let number = self.truths[stop].count
        numbers[stop][truths] = number
        self.truths[stop].append(truths)
        return number
    }
}
