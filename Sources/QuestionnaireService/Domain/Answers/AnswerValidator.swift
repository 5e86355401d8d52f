import BusProtocol
import Documents
import JSONText

/// Why a value is not a valid answer to a question.
struct AnswerProblem: Error, Hashable {
    var code: String
    /// One sentence to show to a person.
    var message: String

    init(_ code: String, _ message: String) { (self.code, self.message) = (code, message) }
}

/// Validates values by the type of their question, and converts them to canonical form, so that equal answers have
/// equal texts.
struct AnswerValidator {
    let question: Question
    /// The day on which ages are calculated.
    let today: CivilDate

    /// Validates a value.
    ///
    /// - Returns: the canonical form of `value`.
    /// - Throws: ``AnswerProblem``, the first that is found.
    func canonical(_ value: JSONValue) throws(AnswerProblem) -> JSONValue {
        switch question.kind {
        case .singleChoice: try singleChoice(value)
        case .multiChoice, .tags: try set(value)
        case .slider: try slider(value)
        case .ranking: try ranking(value)
        case .text: .string(try Self.text(value, in: textLimits))
        case .date: try date(value)
        case .number: try number(value)
        case .height: try height(value)
        case .boolean: try boolean(value)
        case .info: throw AnswerProblem("no_value", "This can only be acknowledged.")
        }
    }

    private func boolean(_ value: JSONValue) throws(AnswerProblem) -> JSONValue {
        guard case .bool = value else { throw AnswerProblem("wrong_type", "Must be true or false.") }
        return value
    }

    private func number(_ value: JSONValue) throws(AnswerProblem) -> JSONValue {
        try inRange(try thousandths(value)).json
    }

    /// The value must be `min + n · step`. Without a step, it may be any thousandth.
    private func slider(_ value: JSONValue) throws(AnswerProblem) -> JSONValue {
        let number = try inRange(try thousandths(value))
        let (low, step) = (question.constraints.min?.count ?? 0, question.constraints.step?.count ?? 1)
        guard (number.count - low) % step == 0 else {
            throw AnswerProblem("off_grid", "Must be one of the slider's steps.")
        }
        return number.json
    }

    private func thousandths(_ value: JSONValue) throws(AnswerProblem) -> Thousandths {
        guard value.doubleValue != nil else { throw AnswerProblem("wrong_type", "Must be a number.") }
        guard let number = Thousandths(value) else {
            throw AnswerProblem("malformed", "Must be a number with at most three decimals.")
        }
        return number
    }

    private func inRange(_ number: Thousandths) throws(AnswerProblem) -> Thousandths {
        if let min = question.constraints.min, number < min {
            throw AnswerProblem("too_small", "Must be at least \(plain(min)).")
        }
        if let max = question.constraints.max, number > max {
            throw AnswerProblem("too_large", "Must be at most \(plain(max)).")
        }
        return number
    }

    private func plain(_ number: Thousandths) -> String {
        String(decoding: CanonicalJSON.bytes(of: number.json), as: UTF8.self)
    }

    /// Reads `{"unit": "in" | "cm", "value": n}`. The canonical form is in whole inches.
    private func height(_ value: JSONValue) throws(AnswerProblem) -> JSONValue {
        guard let members = value.objectValue, Set(members.keys) == ["unit", "value"],
            let amount = members["value"]?.doubleValue, let unit = members["unit"]?.stringValue
        else {
            throw AnswerProblem("wrong_type", "Must be an object with a unit and a value.")
        }
        let inches: Double
        switch unit {
        case "in":
            guard amount == amount.rounded() else { throw AnswerProblem("malformed", "Must be whole inches.") }
            inches = amount
        case "cm": inches = (amount / 2.54).rounded()
        default: throw AnswerProblem("malformed", "The unit must be in or cm.")
        }
        guard (48...95).contains(inches) else {
            throw AnswerProblem("not_allowed", "Must be from 4 feet to 7 feet 11 inches.")
        }
        return ["unit": "in", "value": .integer(Int64(inches))]
    }

    private func date(_ value: JSONValue) throws(AnswerProblem) -> JSONValue {
        guard let text = value.stringValue else { throw AnswerProblem("wrong_type", "Must be a text.") }
        guard let date = CivilDate(text) else { throw AnswerProblem("malformed", "Must be a date, YYYY-MM-DD.") }
        let limits = question.constraints
        if let earliest = limits.earliest, date < earliest {
            throw AnswerProblem("too_small", "Must not be before \(earliest).")
        }
        if let latest = limits.latest, date > latest {
            throw AnswerProblem("too_large", "Must not be after \(latest).")
        }
        if limits.minAge != nil || limits.maxAge != nil {
            let age = date.age(on: today)
            if let minAge = limits.minAge, age < minAge {
                throw AnswerProblem("too_young", "Must be at least \(minAge) years old.")
            }
            if let maxAge = limits.maxAge, age > maxAge {
                throw AnswerProblem("too_old", "Must be at most \(maxAge) years old.")
            }
        }
        return .string(date.description)
    }
}
