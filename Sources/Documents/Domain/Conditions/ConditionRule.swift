import BusProtocol
import JSONText

/// The rule of a condition for one operand: a comparison of its value or its state with constants.
package enum ConditionRule: Sendable, Hashable {
    /// The operand has a value. The result is never unknown.
    case isAnswered
    /// The operand's state is one of these. The result is never unknown.
    case hasState(Set<String>)
    /// The operand's value is one of these.
    case isOneOf(Set<Constant>)
    /// The measure is below the constant.
    case isBelow(Measure, Constant)
    /// The measure is above the constant.
    case isAbove(Measure, Constant)
    /// The measure equals the constant.
    case isEqual(Measure, Constant)
    /// At least one chosen option is among these.
    case anyIn(Set<String>)
    /// All chosen options are among these.
    case allIn(Set<String>)

    /// The part of a value that is compared.
    package enum Measure: Sendable, Hashable {
        /// The value itself.
        case value
        /// The number of chosen options.
        case count
        /// The full years since the date.
        case age
    }

    /// The other side of a comparison.
    package enum Constant: Sendable, Hashable {
        /// True or false.
        case truth(Bool)
        /// A number.
        case number(Thousandths)
        /// A date.
        case date(CivilDate)
        /// A text, or an option by its key.
        case text(String)
    }
}

extension ConditionRule {
    /// Whether the rule holds for an operand; `nil` if that is unknown.
    ///
    /// - Parameters:
    ///   - state: the name of the operand's state.
    ///   - value: the operand's value in canonical form; `nil` if it has none.
    ///   - today: the day on which ages are calculated.
    package func truth(state: @autoclosure () -> String, value: JSONValue?, today: CivilDate) -> Bool? {
        switch self {
        case .isAnswered: return value != nil
        case .hasState(let states): return states.contains(state())
        default: return value.flatMap { truth(of: $0, today: today) }
        }
    }

    /// Whether the rule holds for a value; `nil` for rules about states.
    package func truth(of value: JSONValue, today: CivilDate) -> Bool? {
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

    /// The compared part of a value, as a constant of the same kind as the other side; `nil` for the person's own
    /// entry.
    private static func constant(
        _ measure: Measure, of value: JSONValue, like constant: Constant?, _ today: CivilDate
    ) -> Constant? {
        switch (measure, constant) {
        case (.count, _): .number(Thousandths(whole: chosen(value).count))
        case (.age, _):
            value.stringValue.flatMap { CivilDate($0) }.map { .number(Thousandths(whole: $0.age(on: today))) }
        case (.value, .truth): value.boolValue.map { .truth($0) }
        // A height is an object. Its value is in inches.
        case (.value, .number): Thousandths(value["value"] ?? value).map { .number($0) }
        case (.value, .date): value.stringValue.flatMap { CivilDate($0) }.map { .date($0) }
        case (.value, .text): value.stringValue.map { .text($0) }
        case (.value, nil): nil
        }
    }
}

extension ConditionRule.Constant {
    /// Only numbers and dates have an order. The parser refuses such comparisons of other constants.
    static func < (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.number(let a), .number(let b)): a < b
        case (.date(let a), .date(let b)): a < b
        default: false
        }
    }

    /// The text of a constant that is a text, an option or a state.
    var text: String { if case .text(let text) = self { text } else { "" } }
}

/// A test of a fact. If the fact is unknown, the result is too.
package struct FactTest: Sendable, Hashable {
    /// The name of the fact, such as `locale`.
    package let fact: String
    /// The rule that must hold for it.
    package let rule: ConditionRule

    /// Takes the fact and the rule for it.
    package init(fact: String, rule: ConditionRule) { (self.fact, self.rule) = (fact, rule) }

    /// Whether the test holds.
    ///
    /// - Parameter value: `nil` and `null` mean unknown.
    package func truth(of value: JSONValue?, today: CivilDate) -> Bool? {
        value.flatMap { $0 == .null ? nil : rule.truth(of: $0, today: today) }
    }
}

extension CivilDate {
    /// The full years of age; negative before the birth. For a birth on 29 February, the birthday is 1 March in other
    /// years.
    package func age(on day: CivilDate) -> Int {
        day.year - year - ((day.month, day.day) < (month, self.day) ? 1 : 0)
    }
}
