import BusProtocol
import JSONText

/// One answer as it stands in a session.
struct Answer: Sendable, Equatable {
    var state: AnswerState
    /// Canonical; `nil` unless the state is `answered`.
    var value: JSONValue?
    /// From 1.
    var revision: Int64
    var changedAt: Timestamp
}

/// A question that keeps a session from being completed.
struct MissingAnswer: Sendable, Equatable {
    enum Reason: String, Sendable { case unanswered, stale }

    var question: String
    var reason: Reason
}

/// A person's answers beside the definition that they are given to.
struct AnswerSheet: Sendable {
    let definition: Definition
    /// The day that ages are counted on.
    let today: CivilDate
    /// By the question's key. Of hidden questions, too: they count again when they are shown again.
    private(set) var answers: [String: Answer]
    /// Every question of the definition as it stands for this person: required or not, with the options offered.
    private(set) var questions: [Question]
    /// Keys of the questions that are not asked.
    private(set) var hidden: Set<String> = []
    /// Keys of shown questions whose answer is none any more, since an option in it is not offered now.
    private(set) var stale: Set<String> = []

    init(definition: Definition, answers: [String: Answer], today: CivilDate) {
        (self.definition, self.answers, self.today) = (definition, answers, today)
        questions = definition.questions
        if definition.hasConditions { resolve() }
    }

    mutating func set(_ answer: Answer, for key: String) {
        answers[key] = answer
        if definition.hasConditions { resolve() }
    }

    /// What is asked of this person.
    var visible: [Question] { hidden.isEmpty ? questions : questions.filter { !hidden.contains($0.key) } }

    /// Where to go on: the first visible question, in document order, that nothing was done about.
    var next: Question? { visible.first { $0.isCounted && !isDealtWith($0) } }

    /// What keeps the session from being completed: required questions that neither were answered nor, where one may,
    /// declined, and answers that are none any more.
    var missing: [MissingAnswer] {
        visible.compactMap { question in
            if stale.contains(question.key) { return MissingAnswer(question: question.key, reason: .stale) }
            let isMissing = question.isCounted && question.required && !isDealtWith(question)
            return isMissing ? MissingAnswer(question: question.key, reason: .unanswered) : nil
        }
    }

    var progress: QuestionnaireProgress {
        let counted = visible.filter(\.isCounted)
        let answered = counted.count(where: isDealtWith)
        let missing = counted.count { $0.required && !isDealtWith($0) }
        return QuestionnaireProgress(
            answered: Int64(answered), total: Int64(counted.count), requiredRemaining: Int64(missing),
            percentage: counted.isEmpty ? 100 : Int64(answered * 100 / counted.count))
    }

    /// In document order; answers to what is not asked are left out.
    var visibleAnswers: [(question: Question, answer: Answer)] {
        visible.compactMap { question in answers[question.key].map { (question, $0) } }
    }

    /// What counts as an answer: of a shown question, and with options that are offered.
    func value(of question: Question) -> JSONValue? {
        hidden.contains(question.key) || stale.contains(question.key) ? nil : answers[question.key]?.value
    }

    /// A question that became required after it was skipped wants an answer all the same.
    private func isDealtWith(_ question: Question) -> Bool {
        guard let state = answers[question.key]?.state, !stale.contains(question.key) else { return false }
        return !question.required || state == .answered || state == .declined && question.declinable
    }

    // MARK: Conditions

    /// One pass: a condition looks at earlier questions only.
    private mutating func resolve() {
        (questions, hidden, stale) = (definition.questions, [], [])
        for section in definition.sections {
            let isShown = holds(section.visibleIf)
            for place in section.questions { resolve(place, inShown: isShown) }
        }
    }

    private mutating func resolve(_ place: Int, inShown isSectionShown: Bool) {
        let question = definition.questions[place]
        guard isSectionShown, holds(question.visibleIf) else {
            hidden.insert(question.key)
            return
        }
        if let condition = question.requiredIf, holds(condition) { questions[place].required = true }
        guard question.hasConditionalOptions else { return }
        questions[place].options = question.options.filter { holds($0.visibleIf) }
        if let value = answers[question.key]?.value, !questions[place].takes(value, on: today) {
            stale.insert(question.key)
        }
    }

    /// What is not known at the root is not shown.
    private func holds(_ condition: Condition?) -> Bool {
        guard let condition else { return true }
        return condition.truth { test in
            let question = questions[test.question]
            return test.truth(state: state(of: question), value: value(of: question), today: today)
        } ?? false
    }

    private func state(of question: Question) -> String {
        if hidden.contains(question.key) { return AnswerTest.hidden }
        return stale.contains(question.key)
            ? AnswerTest.unanswered : answers[question.key]?.state.rawValue ?? AnswerTest.unanswered
    }
}

extension Question {
    fileprivate func takes(_ value: JSONValue, on today: CivilDate) -> Bool {
        (try? AnswerValidator(question: self, today: today).canonical(value)) != nil
    }
}
