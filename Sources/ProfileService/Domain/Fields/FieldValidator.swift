import BusProtocol
import Foundation
import JSONText

/// Validates the value of a field and converts it to the stored form.
enum FieldValidator {
    struct Refusal: Error, Equatable {
        let code: String
        let message: String
        init(_ code: String, _ message: String) { (self.code, self.message) = (code, message) }
    }

    /// The most bytes of a text. Graphemes alone do not limit its size.
    private static let longestText = 4096

    /// - Returns: the stored form of `value`.
    /// - Throws: ``Refusal`` with a message to show to the person.
    static func canonical(_ value: JSONValue, for field: ProfileField) throws(Refusal) -> JSONValue {
        switch field.kind {
        case .name(let length): return .string(try clean(try name(value, length)))
        case .line(let length): return .string(try line(value, length))
        case .text(let length): return .string(try clean(try text(value, length)))
        case .date:
            guard let text = value.stringValue, let date = CivilDate(text) else {
                throw Refusal("malformed", "Must be a date, YYYY-MM-DD.")
            }
            return .string(date.description)
        case .choice(let options):
            guard let choice = value.stringValue else { throw Refusal("wrong_type", "Must be a text.") }
            guard options.contains(choice) else {
                throw Refusal("not_allowed", "Must be one of \(list(options)).")
            }
            return value
        case .choices(let options, let exclusive, let most):
            return .array(try choices(value, options, exclusive, most))
        case .boolean:
            guard value.boolValue != nil else { throw Refusal("wrong_type", "Must be true or false.") }
            return value
        case .integer(let range):
            guard let number = value.integerValue else { throw Refusal("wrong_type", "Must be a whole number.") }
            guard range.contains(number) else {
                throw Refusal(
                    number < range.lowerBound ? "too_small" : "too_large",
                    "Must be from \(range.lowerBound) to \(range.upperBound).")
            }
            return value
        case .url: return .string(try url(value))
        case .coordinates: return try coordinates(value)
        }
    }

    /// Returns the text in NFC, without white space at both ends. Control characters are refused.
    private static func text(_ value: JSONValue, _ length: ClosedRange<Int>) throws(Refusal) -> String {
        guard let given = value.stringValue else { throw Refusal("wrong_type", "Must be a text.") }
        guard given.utf8.count <= longestText else {
            throw Refusal("too_long", "Must have at most \(length.upperBound) characters.")
        }
        let text = given.precomposedStringWithCanonicalMapping.trimmingCharacters(in: .whitespacesAndNewlines)
        guard text.count >= length.lowerBound else {
            let least = length.lowerBound
            throw Refusal(
                "too_short",
                least == 1 ? "Must have at least 1 character." : "Must have at least \(least) characters.")
        }
        guard text.count <= length.upperBound else {
            throw Refusal("too_long", "Must have at most \(length.upperBound) characters.")
        }
        guard !text.unicodeScalars.contains(where: isControl) else {
            throw Refusal("malformed", "Must not have control characters.")
        }
        return text
    }

    /// Whether a character is refused. Characters that change the direction of writing are, so that a name cannot
    /// rearrange the text around it. Joiners are allowed, since they are part of letters and emoji.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x202A...0x202E, 0x2066...0x2069: true
        default: scalar.properties.generalCategory == .control && scalar != "\n"
        }
    }

    private static func clean(_ text: String) throws(Refusal) -> String {
        guard case .success(let filter) = ProfanityFilter.shipped, !filter.refuses(text) else {
            throw Refusal("profanity", "Please use other words.")
        }
        return text
    }

    /// Like ``text(_:_:)``, but the text must be on one line.
    private static func line(_ value: JSONValue, _ length: ClosedRange<Int>) throws(Refusal) -> String {
        let text = try text(value, length)
        guard !text.unicodeScalars.contains(where: { ["\n", "\u{2028}", "\u{2029}"].contains($0) }) else {
            throw Refusal("malformed", "Must be on one line.")
        }
        return text
    }

    /// The options for a message. A list of more than 20 is not shown.
    private static func list(_ options: [String]) -> String {
        options.count > 20 ? "the values in the catalogue" : "these: \(options.joined(separator: ", "))"
    }

    /// Validates a name: letters and marks of any script, spaces, apostrophes, hyphens and full stops.
    private static func name(_ value: JSONValue, _ length: ClosedRange<Int>) throws(Refusal) -> String {
        let text = try text(value, length)
        let isName = text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
                .spacingMark:
                true
            default: [" ", "'", "\u{2019}", "-", "\u{2010}", "."].contains(scalar)
            }
        }
        guard isName, text.contains(where: \.isLetter) else {
            throw Refusal("malformed", "Must have letters, spaces, apostrophes, hyphens and full stops only.")
        }
        return text
    }

    private static func choices(
        _ value: JSONValue, _ options: [String], _ exclusive: String?, _ most: Int
    ) throws(Refusal) -> [JSONValue] {
        guard let values = value.arrayValue?.map(\.stringValue), !values.contains(nil) else {
            throw Refusal("wrong_type", "Must be a list of texts.")
        }
        let chosen = Set(values.compactMap { $0 })
        guard !chosen.isEmpty else { throw Refusal("too_few", "Must have at least one entry.") }
        guard chosen.isSubset(of: options), chosen.count == values.count else {
            throw Refusal("not_allowed", "Must be different values of \(list(options)).")
        }
        guard chosen.count <= most else { throw Refusal("too_many", "Must be at most \(most).") }
        if let exclusive, chosen.contains(exclusive), chosen.count > 1 {
            throw Refusal("not_allowed", "\"\(exclusive)\" stands alone.")
        }
        return options.filter(chosen.contains).map { .string($0) }
    }

    private static func url(_ value: JSONValue) throws(Refusal) -> String {
        guard let text = value.stringValue else { throw Refusal("wrong_type", "Must be a text.") }
        guard text.utf8.count <= 2048, text.hasPrefix("https://"), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
            let host = URL(string: text)?.host(), !host.isEmpty
        else { throw Refusal("malformed", "Must be an https address.") }
        return text
    }

    /// The degrees, rounded to hundredths (about a kilometre). Nothing needs a finer position, and data that is not
    /// stored cannot leak.
    private static func rounded(_ degrees: Double) -> JSONValue {
        let hundredths = (degrees * 100).rounded()
        return hundredths.remainder(dividingBy: 100) == 0
            ? .integer(Int64(hundredths) / 100) : .number(hundredths / 100)
    }

    private static func coordinates(_ value: JSONValue) throws(Refusal) -> JSONValue {
        guard let members = value.objectValue, Set(members.keys) == ["latitude", "longitude"],
            let latitude = members["latitude"]?.doubleValue, let longitude = members["longitude"]?.doubleValue,
            (-90...90).contains(latitude), (-180...180).contains(longitude)
        else { throw Refusal("malformed", "Must be {latitude, longitude} in degrees.") }
        return ["latitude": rounded(latitude), "longitude": rounded(longitude)]
    }
}
