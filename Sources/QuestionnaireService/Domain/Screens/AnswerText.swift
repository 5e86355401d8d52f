import BusProtocol
import Foundation
import JSONText

/// Answers as a person reads them in one language.
struct AnswerText: Sendable {
    private let locale: Locale
    private let words: ServiceWords?

    init(language: String) { (locale, words) = (Locale(identifier: language), ServiceWords.of(language)) }

    /// One text for each entry of a choice, else at most one. A value of another form has none: it belongs to an earlier
    /// version of the question.
    ///
    /// - Parameter question: with the texts of the language.
    func texts(of value: JSONValue, to question: Question) -> [String] {
        switch question.kind {
        case .singleChoice, .multiChoice, .ranking, .tags:
            (value.arrayValue ?? [value]).compactMap { entry in
                entry["other"]?.stringValue ?? question.options.first { $0.key == entry.stringValue }?.label
            }
        case .slider, .number: [value.doubleValue.map(number)].compactMap(\.self)
        case .text: [value.stringValue].compactMap(\.self).filter { !$0.isEmpty }
        case .date: [value.stringValue.flatMap { CivilDate($0) }.map(date)].compactMap(\.self)
        case .height: [value["value"]?.integerValue.map(height)].compactMap(\.self)
        case .boolean: [value.boolValue.flatMap { $0 ? words?.yes : words?.no }].compactMap(\.self)
        case .info: []
        }
    }

    /// Without a sign between thousands, since the number may be a year.
    private func number(_ number: Double) -> String {
        number.formatted(.number.precision(.fractionLength(0...3)).grouping(.never).locale(locale))
    }

    private func date(_ day: CivilDate) -> String {
        Date(timeIntervalSince1970: Double(day.daysSinceEpoch) * 86_400).formatted(
            Date.FormatStyle(
                date: .long, time: .omitted, locale: locale, calendar: Calendar(identifier: .gregorian), timeZone: .gmt
            ))
    }

    /// The signs for feet, inches and centimetres are the same in every language.
    private func height(_ inches: Int64) -> String {
        "\(inches / 12)′ \(inches % 12)″ (\(Int((Double(inches) * 2.54).rounded())) cm)"
    }
}
