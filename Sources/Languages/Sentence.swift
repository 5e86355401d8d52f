/// A text for a person, written in English with inserted values, that has a translation in every language.
package struct Sentence: Sendable, Equatable, ExpressibleByStringInterpolation {
    /// The English text with `{1}`, `{2}` in place of the inserted values.
    let pattern: String
    let values: [Value]

    enum Value: Sendable, Equatable {
        /// A value that is the same in every language: a name, a number.
        case plain(String)
        indirect case sentence(Sentence)
    }

    /// A text without inserted values.
    package init(stringLiteral text: String) { (pattern, values) = (text, []) }

    /// A text with inserted values.
    package init(stringInterpolation text: StringInterpolation) { (pattern, values) = (text.pattern, text.values) }

    /// The text in a language.
    package func text(in language: Language) -> String {
        let values = values.map { value in
            switch value {
            case .plain(let text): text
            case .sentence(let sentence): sentence.text(in: language)
            }
        }
        return Language.fill(language.text(for: pattern), with: values)
    }

    /// The text in English, as it goes over the bus.
    package var english: String { text(in: .english) }

    /// Collects a text and its inserted values.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var pattern = ""
        fileprivate var values: [Value] = []

        /// Begins a text. The two sizes are not used.
        package init(literalCapacity: Int, interpolationCount: Int) {}

        /// Adds words of the English text.
        package mutating func appendLiteral(_ text: String) { pattern += text }
        /// Inserts a sentence, which is translated too.
        package mutating func appendInterpolation(_ sentence: Sentence) { insert(.sentence(sentence)) }
        /// Inserts a value that is the same in every language.
        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            insert(.plain(value.description))
        }

        private mutating func insert(_ value: Value) {
            values.append(value)
            pattern += "{\(values.count)}"
        }
    }
}
