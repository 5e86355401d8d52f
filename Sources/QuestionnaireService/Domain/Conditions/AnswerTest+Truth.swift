import BusProtocol
import JSONText

extension AnswerTest {
    /// What conditions call the state of a question that is not shown.
    static let hidden = "hidden"
    /// What they call the state of one that is shown, with nothing done about it.
    static let unanswered = "unanswered"

    /// The names that `state` can have.
    static let states: Set<String> = [
        hidden, unanswered, AnswerState.answered.rawValue, AnswerState.skipped.rawValue,
        AnswerState.declined.rawValue, AnswerState.acknowledged.rawValue,
    ]

    /// Whether it holds.
    ///
    /// - Parameters:
    ///   - state: of ``states``.
    ///   - value: canonical, and there only where the question is shown and answered.
    ///   - today: the day that ages are counted on.
    func truth(state: @autoclosure () -> String, value: JSONValue?, today: CivilDate) -> Bool? {
        switch rule {
        case .isAnswered: return value != nil
        case .hasState(let states): return states.contains(state())
        default: return value.flatMap { rule.truth(of: $0, today: today) }
        }
    }
}

extension AnswerTest.Rule {
    /// Whether it holds of a value; `nil` of what is asked of a state.
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

    /// The keys of a choice; `nil` stands for an entry of one's own, which is no option.
    private static func chosen(_ value: JSONValue) -> [String?] { (value.arrayValue ?? []).map(\.stringValue) }

    /// What of an answer is compared, in the form of the constant that it is compared with; `nil` for an entry of one's
    /// own, which is no option.
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
        // A height is an object with its unit, kept in inches.
        case (.value, .number): Thousandths(value["value"] ?? value).map { .number($0) }
        case (.value, .date): value.stringValue.flatMap { CivilDate($0) }.map { .date($0) }
        case (.value, .text): value.stringValue.map { .text($0) }
        case (.value, nil): nil
        }
    }
}

extension AnswerTest.Constant {
    /// Only numbers and dates have an order; the parser lets nothing else be compared by it.
    static func < (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.number(let a), .number(let b)): a < b
        case (.date(let a), .date(let b)): a < b
        default: false
        }
    }
}
