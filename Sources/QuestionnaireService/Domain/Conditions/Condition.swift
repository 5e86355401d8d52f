import BusProtocol
import Documents
import JSONText

/// A condition about earlier questions, checked against its definition.
typealias Condition = Logic<ConditionTest>

/// A test of one earlier question: a comparison of its answer with constants.
struct AnswerTest: Sendable, Hashable {
    /// The state of a hidden question in conditions.
    static let hidden = "hidden"
    /// The state in conditions of a question that is shown and has no answer, skip or other state.
    static let unanswered = "unanswered"

    /// All names of states in conditions, in order.
    static let states = [
        hidden, unanswered, AnswerState.answered.rawValue, AnswerState.skipped.rawValue,
        AnswerState.declined.rawValue, AnswerState.acknowledged.rawValue,
    ].sorted()

    /// The index of the question in the definition.
    let question: Int
    let rule: ConditionRule

    /// Whether the test holds; `nil` if that is unknown.
    ///
    /// - Parameters:
    ///   - state: one of ``states``.
    ///   - value: in canonical form; `nil` unless the question is shown and answered.
    ///   - today: the day on which ages are calculated.
    func truth(state: @autoclosure () -> String, value: JSONValue?, today: CivilDate) -> Bool? {
        rule.truth(state: state(), value: value, today: today)
    }
}
