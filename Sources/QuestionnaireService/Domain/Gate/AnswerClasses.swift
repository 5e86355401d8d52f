import BusProtocol
import JSONText

/// Groups the answers to each question into classes. All answers of a class give the same result in every test.
///
/// Facts and subjects have classes in the same way. A class is a number.
final class AnswerClasses {
    /// A possible outcome of a question.
    struct Outcome: Hashable {
        let answerClass: Int
        /// Whether the question needs nothing more after this outcome.
        let isDone: Bool
    }

    /// A question as a person sees it before they answer.
    struct ShownQuestion: Hashable {
        let place: Int
        let isRequired: Bool
        /// For each option, whether it is offered.
        let offered: [Bool]
    }

    let definition: Definition
    let today: CivilDate
    /// For each stop of the ``PathMap``, the tests on it.
    let tests: [[ConditionTest]]
    /// By stop and class: the result of each test.
    private(set) var truths: [[[Bool?]]]
    /// For each question, the tests on it.
    private let asked: [[AnswerTest]]
    private let stopOf: [Int]
    private var numbers: [[[Bool?]: Int]]
    private var known: [ShownQuestion: [Outcome]?] = [:]
    private var answers: [ShownQuestion: Bool] = [:]

    init(_ definition: Definition, stops: [PathMap.Stop], tests: [[ConditionTest]], today: CivilDate) {
        (self.definition, self.tests, self.today) = (definition, tests, today)
        truths = Array(repeating: [], count: tests.count)
        numbers = Array(repeating: [:], count: tests.count)
        let places = stops.indices.filter { if case .question = stops[$0] { true } else { false } }
        stopOf = places
        asked = places.map { tests[$0].compactMap { if case .answer(let test) = $0 { test } else { nil } } }
    }

    func hidden(_ place: Int) -> Int { answerClass(of: place, state: AnswerTest.hidden, value: nil) }

    /// All outcomes of a fact: each value in a test, any other value if there may be one, and unknown.
    func outcomes(ofFact stop: Int) -> [Outcome] {
        let tests = tests[stop].compactMap { if case .fact(let test) = $0 { test } else { nil } }
        let classes = QuestionnaireSessionFact.samples(tests).map { value in
            answerClass(of: stop, tests.map { $0.truth(of: value, today: today) })
        }
        return Set(classes).sorted().map { Outcome(answerClass: $0, isDone: true) }
    }

    /// All outcomes of a question that is shown; `nil` if there are too many combinations.
    func outcomes(of shown: ShownQuestion) -> [Outcome]? {
        if let known = known[shown] { return known }
        let found = find(shown)
        known[shown] = found
        return found
    }

    /// Whether there is a valid answer.
    func hasAnswer(_ shown: ShownQuestion) -> Bool {
        if let known = answers[shown] { return known }
        let question = seen(shown)
        // Without tests all options are alike, so one sample for each number of options is enough.
        let samples = AnswerSamples(question: question, tests: [], today: today).values
        let found = samples.map { !$0.isEmpty } ?? true
        answers[shown] = found
        return found
    }

    private func seen(_ shown: ShownQuestion) -> Question {
        var question = definition.questions[shown.place]
        question.options = zip(question.options, shown.offered).filter(\.1).map(\.0)
        return question
    }

    private func find(_ shown: ShownQuestion) -> [Outcome]? {
        let (place, question) = (shown.place, seen(shown))
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
        // A required question without a valid answer is reported once. It must not make everything after it
        // unreachable.
        let isDead = question.isCounted && shown.isRequired && values.isEmpty && !question.declinable
        add(nil, standard, isDone: !shown.isRequired || isDead || standard != nil)
        // A question that was skipped before it became required stays skipped until the person comes back to it.
        if question.skippable { add(.skipped, isDone: !shown.isRequired) }
        if question.declinable { add(.declined, isDone: true) }
        if !question.required || standard != nil {
            add(.acknowledged, standard, isDone: !shown.isRequired || standard != nil)
        }
        return found.sorted { ($0.answerClass, $0.isDone ? 0 : 1) < ($1.answerClass, $1.isDone ? 0 : 1) }
    }

    private func answerClass(of place: Int, state: String, value: JSONValue?) -> Int {
        answerClass(of: stopOf[place], asked[place].map { $0.truth(state: state, value: value, today: today) })
    }

    /// The class with these results of the tests on a stop.
    func answerClass(of stop: Int, _ truths: [Bool?]) -> Int {
        if let known = numbers[stop][truths] { return known }
        let number = self.truths[stop].count
        numbers[stop][truths] = number
        self.truths[stop].append(truths)
        return number
    }
}
