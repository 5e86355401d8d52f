import Foundation

/// Converts names of cities to the form for comparisons. That form is in lower case, without marks. It has words of
/// letters and digits, with one space between them. `scripts/cities` does the same.
enum CityFold {
    /// Letters that Unicode does not decompose into a letter and a mark.
    private static let special: [Unicode.Scalar: String] = [
        "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ı": "i",
        "ə": "e",
        "ŋ": "n", "ς": "σ",
    ]
    /// Characters that are left out within a word, so that Xi'an becomes xian.
    private static let silent: Set<Unicode.Scalar> = ["'", "\u{2019}", "\u{2018}", "\u{2BB}", "\u{2BC}", "`"]

    static func fold(_ name: String) -> String {
        var lower = ""
        for scalar in name.decomposedStringWithCompatibilityMapping.lowercased().unicodeScalars {
            if let plain = special[scalar] { lower += plain } else { lower.unicodeScalars.append(scalar) }
        }
        var folded = String.UnicodeScalarView()
        var isBetweenWords = false
        for scalar in lower.decomposedStringWithCompatibilityMapping.unicodeScalars where !silent.contains(scalar) {
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .spacingMark, .enclosingMark: continue
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
                .letterNumber, .otherNumber:
                if isBetweenWords, !folded.isEmpty { folded.append(" ") }
                isBetweenWords = false
                folded.append(scalar)
            default: isBetweenWords = true
            }
        }
        return String(folded)
    }
}
