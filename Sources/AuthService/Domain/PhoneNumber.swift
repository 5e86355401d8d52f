/// A number in the form of ITU-T E.164: `+`, a country calling code, and the rest, 7 to 15 digits in all.
struct PhoneNumber: Sendable, Equatable {
    let e164: String
    private let callingCode: String

    /// - Parameter text: any common spelling with a country code: spaces, dots, dashes and brackets, `00` or `+` before
    ///   the code, full-width and Arabic-Indic digits, a trunk zero in brackets behind the code. Extensions are refused.
    init?(_ text: String) {
        var digits = ""
        var hasPlus = false
        for scalar in text.unicodeScalars {
            if let value = scalar.properties.numericType == .decimal ? scalar.properties.numericValue : nil {
                digits += String(Int(value))
            } else if scalar == "+" || scalar == "\u{ff0b}" {
                guard digits.isEmpty, !hasPlus else { return nil }
                hasPlus = true
            } else if !Self.isSeparator(scalar) {
                return nil
            }
        }
        if !hasPlus {
            guard digits.hasPrefix("00") else { return nil }
            digits.removeFirst(2)
        }
        guard let code = CallingCodes.code(of: digits) else { return nil }
        var national = digits.dropFirst(code.count)
        // A zero of the national prefix is written by many behind the code; a few countries' numbers really have it.
        let keepsZero = CallingCodes.withLeadingZero.contains(code)
        if national.first == "0", !keepsZero { national = national.dropFirst() }
        guard CallingCodes.lengths(of: code).contains(national.count), keepsZero || national.first != "0",
            !(code == "1" && national.first == "1")
        else { return nil }
        callingCode = code
        e164 = "+\(code)\(national)"
    }

    private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case " ", "-", ".", "(", ")", "/", "\u{a0}", "\u{2010}"..."\u{2015}", "\u{202f}": true
        default: scalar.properties.generalCategory == .format
        }
    }

    /// `+1 (***) ***-1234`: the code and the last four digits.
    var masked: String { "+\(callingCode) (***) ***-\(e164.suffix(4))" }
}

/// Country calling codes as assigned (ITU-T E.164, annex of 2016) with the lengths that national numbers have.
enum CallingCodes {
    private static let oneDigit: Set<String> = ["1", "7"]
    private static let twoDigits: Set<String> = [
        "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46", "47", "48", "49",
        "51",
        "52", "53", "54", "55", "56", "57", "58", "60", "61", "62", "63", "64", "65", "66", "81", "82", "84", "86",
        "90",
        "91", "92", "93", "94", "95", "98",
    ]
    /// Zones of three-digit codes, by their first two digits. Satellite and shared-cost codes (80x, 87x, 88x, 97[9]) get
    /// no SMS and are left out.
    private static let threeDigitZones: Set<String> = [
        "21", "22", "23", "24", "25", "26", "29", "35", "37", "38", "42", "50", "59", "67", "68", "69", "85", "96",
        "97", "99",
    ]
    private static let withoutSMS: Set<String> = ["979", "210", "214", "215", "217", "219", "259", "999", "991"]

    /// Italy, Côte d'Ivoire, Congo and San Marino: a zero in front is part of the number.
    static let withLeadingZero: Set<String> = ["39", "225", "242", "378"]

    static func code(of digits: String) -> String? {
        if oneDigit.contains(String(digits.prefix(1))) { return String(digits.prefix(1)) }
        let two = String(digits.prefix(2))
        if twoDigits.contains(two) { return two }
        guard threeDigitZones.contains(two), digits.count >= 3 else {
            return digits.hasPrefix("880") || digits.hasPrefix("886") ? String(digits.prefix(3)) : nil
        }
        let three = String(digits.prefix(3))
        return withoutSMS.contains(three) ? nil : three
    }

    static func lengths(of code: String) -> ClosedRange<Int> {
        switch code {
        case "1", "7", "91": 10...10
        case "33", "34", "48": 9...9
        case "45", "47", "65": 8...8
        case "46": 7...9
        case "44": 9...10
        case "61", "31", "32", "41", "82": 8...10
        case "86": 11...11
        default: 5...(15 - code.count)
        }
    }
}
