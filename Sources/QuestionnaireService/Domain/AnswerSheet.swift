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

/// A person's answers beside the definition that they are given to.
struct AnswerSheet: Sendable {
    let definition: Definition
    /// By the question's key.
    var answers: [String: Answer]

    /// What is asked of this person. Without conditions that is every question.
    var visible: [Question] { definition.questions }

    /// Where to go on: the first visible question, in document order, that nothing was done about.
    var next: Question? { visible.first { $0.isCounted && answers[$0.key] == nil } }

    /// Required questions that neither were answered nor, where one may, declined.
    var missing: [Question] { visible.filter { $0.isCounted && $0.required && !isSatisfied($0) } }

    var progress: QuestionnaireProgress {
        let counted = visible.filter(\.isCounted)
        let answered = counted.count { answers[$0.key] != nil }
        return QuestionnaireProgress(
            answered: Int64(answered), total: Int64(counted.count), requiredRemaining: Int64(missing.count),
            percentage: counted.isEmpty ? 100 : Int64(answered * 100 / counted.count))
    }

    /// In document order; answers to what is not asked any more are left out.
    var visibleAnswers: [(question: Question, answer: Answer)] {
        visible.compactMap { question in answers[question.key].map { (question, $0) } }
    }

    private func isSatisfied(_ question: Question) -> Bool {
        let state = answers[question.key]?.state
        return state == .answered || state == .declined && question.declinable
    }
}
