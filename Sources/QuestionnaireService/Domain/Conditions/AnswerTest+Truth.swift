import BusProtocol
import JSONText

extension AnswerTest {
    /// The state of a hidden question in conditions.
    static let hidden = "hidden"
    /// The state in conditions of a question that is shown and has no answer, skip or other state.
    static let unanswered = "unanswered"

    /// All names of states in conditions.
    static let states: Set<String> = [
        hidden, unanswered, AnswerState.answered.rawValue, AnswerState.skipped.rawValue,
        AnswerState.declined.rawValue, AnswerState.acknowledged.rawValue,
    ]

    /// Whether the test holds; `nil` if that is unknown.
    ///
    /// - Parameters:
    ///   - state: one of ``states``.
    ///   - value: in canonical form; `nil` unless the question is shown and answered.
    ///   - today: the day on which ages are calculated.
    func truth(state: @autoclosure () -> String, value: JSONValue?, today: CivilDate) -> Bool? {
        switch rule {
        case .isAnswered: return value != nil
        case .hasState(let states): return states.contains(state())
        default: return value.flatMap { rule.truth(of: $0, today: today) }
        }
    }
}

extension AnswerTest.Rule {
    /// Whether the rule holds for a value; `nil` for rules about states.
    func truth(of value: JSONValue, today: CivilDate) -> Bool? {
        switch self {
        case .isAnswered, .hasState: return nil
        case .isOneOf(let constants):
            return Self.constant(.value, of: value, like: constants.first, today).map { constants.contains($0) }
                ?? false
        case .isEqual(let measure, let constant):
            return Self.constant(measure, of: value, like: constant, today) == constant
        case .isBelow(let measure, let constant):
            return Self.constant(measure, of: value, like: constant, today).map { $0 < constant } ?? false
        case .isAbove(let measure, let constant):
            return Self.constant(measure, of: value, like: constant, today).map { constant < $0 } ?? false
        case .anyIn(let keys): return Self.chosen(value).contains { $0.map(keys.contains) ?? false }
        case .allIn(let keys): return Self.chosen(value).allSatisfy { $0.map(keys.contains) ?? false }
        }
    }

    /// The keys of a choice, with `nil` for the person's own entries.
    private static func chosen(_ value: JSONValue) -> [String?] { (value.arrayValue ?? []).map(\.stringValue) }

    /// The compared part of an answer, as a constant of the same kind as the other side; `nil` for the person's own
    /// entry.
    private static func constant(
        _ measure: AnswerTest.Measure, of value: JSONValue, like constant: AnswerTest.Constant?, _ today: CivilDate
    ) -> AnswerTest.Constant? {
        switch (measure, constant) {
        case (.count, _): .number(Thousandths(whole: chosen(value).count))
        case (.age, _):
            value.stringValue.flatMap { CivilDate($0) }.map {
                .number(Thousandths(whole: AnswerValidator.age(of: $0, on: today)))
            }
        case (.value, .truth): value.boolValue.map { .truth($0) }
        // A height is an object. Its value is in inches.
        case (.value, .number): Thousandths(value["value"] ?? value).map { .number($0) }
        case (.value, .date): value.stringValue.flatMap { CivilDate($0) }.map { .date($0) }
        case (.value, .text): value.stringValue.map { .text($0) }
        case (.value, nil): nil
        }
    }
}

extension AnswerTest.Constant {
    /// Only numbers and dates have an order. The parser refuses to compare others by it.
    static func < (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.number(let a), .number(let b)): a < b
        case (.date(let a), .date(let b)): a < b
        default: false
        }
    }
}
