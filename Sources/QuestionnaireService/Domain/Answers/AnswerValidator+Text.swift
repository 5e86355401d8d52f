import Foundation
import JSONText

/// The bounds of a text's length, in grapheme clusters, and its allowed characters.
struct TextLimits {
    var least: Int
    var most: Int
    var pattern: TextPattern?
}

extension AnswerValidator {
    var textLimits: TextLimits {
        let limits = question.constraints
        return TextLimits(least: max(1, limits.minLength ?? 1), most: limits.maxLength ?? 4096, pattern: limits.pattern)
    }

    /// Returns the text in Unicode's form C, without white space at both ends.
    static func text(_ value: JSONValue, in limits: TextLimits) throws(AnswerProblem) -> String {
        guard let raw = value.stringValue else { throw AnswerProblem("wrong_type", "Must be a text.") }
        // Bytes are limited first, since a single grapheme cluster can be very long.
        guard raw.utf8.count <= 4096 else { throw AnswerProblem("too_long", "Must have at most 4096 bytes.") }
        let text = raw.trimmingCharacters(in: .whitespacesAndNewlines).precomposedStringWithCanonicalMapping
        let count = text.count
        if count < limits.least {
            throw AnswerProblem(
                "too_short",
                limits.least == 1 ? "Must have at least 1 character." : "Must have at least \(limits.least) characters."
            )
        }
        if count > limits.most { throw AnswerProblem("too_long", "Must have at most \(limits.most) characters.") }
        guard text.utf8.count <= 4096, text.unicodeScalars.allSatisfy({ isPrintable($0, limits.pattern) }) else {
            throw AnswerProblem("malformed", message(for: limits.pattern))
        }
        return text
    }

    private static func isPrintable(_ scalar: Unicode.Scalar, _ pattern: TextPattern?) -> Bool {
        let category = scalar.properties.generalCategory
        switch pattern {
        case nil where scalar == "\n" || scalar == "\t": return true
        case nil, .singleLine:
            // Joiners are format characters, but they are part of many letters and emoji.
            return ![.control, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator]
                .contains(category) && (category != .format || scalar == "\u{200d}" || scalar == "\u{200c}")
        case .personName:
            if [" ", "'", "’", "-", "."].contains(scalar) { return true }
            return [
                .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
                .spacingMark,
            ].contains(category)
        case .digits: return ("0"..."9").contains(scalar)
        }
    }

    private static func message(for pattern: TextPattern?) -> String {
        switch pattern {
        case nil: "Must have printable characters only."
        case .singleLine: "Must be one line of printable characters."
        case .personName: "Must have letters, spaces, apostrophes, hyphens and full stops only."
        case .digits: "Must have digits only."
        }
    }
}
