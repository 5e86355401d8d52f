/// A number that may get an SMS, in the form of ITU-T E.164: `+`, a country calling code and the national number.
///
/// It is a mobile, fixed or internet line in the numbering plan of a country. Premium, shared-cost, toll-free and
/// personal numbers, pagers, company numbers, voice mail and satellite networks are not accepted.
struct PhoneNumber: Sendable, Equatable {
    let e164: String
    /// The country or territory, ISO 3166-1 alpha-2. Several can share a calling code.
    let region: String
    private let callingCode: String

    /// - Parameter text: any spelling with a country code after `00` or `+`. Digits may be of any script. Spaces, dots,
    ///   dashes, slashes, brackets and invisible characters may be between them. A trunk prefix may follow the code,
    ///   such as the zero in `+46 (0)70`. Extensions are refused.
    init?(_ text: String) {
        guard let digits = Self.digits(ofInternational: text) else { return nil }
        let plan = NumberingPlan.current
        guard let (code, count) = plan.callingCode(of: digits) else { return nil }
        let national = digits.dropFirst(count)
        // The digits as written are tried first, since a leading zero is part of some numbers, for example in Italy.
        let spellings = code.spellings.filter { national.starts(with: $0.written) }
        let readings = [Array(national)] + spellings.map { $0.meant + national.dropFirst($0.written.count) }
        for reading in readings {
            guard let region = plan.region(of: reading, behind: code) else { continue }
            self.region = region
            callingCode = Self.text(digits.prefix(count))
            e164 = "+\(callingCode)\(Self.text(reading))"
            return
        }
        return nil
    }

    /// The digits after `+` or `00`; `nil` if other characters are among them.
    private static func digits(ofInternational text: String) -> [UInt8]? {
        var (digits, hasPlus): ([UInt8], Bool) = ([], false)
        for scalar in text.unicodeScalars {
            if scalar.properties.numericType == .decimal, let value = scalar.properties.numericValue {
                digits.append(UInt8(value))
            } else if scalar == "+" || scalar == "\u{ff0b}" {
                guard digits.isEmpty, !hasPlus else { return nil }
                hasPlus = true
            } else if !isSeparator(scalar) {
                return nil
            }
        }
        if hasPlus { return digits }
        return digits.starts(with: [0, 0]) ? Array(digits.dropFirst(2)) : nil
    }

    private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        // The escapes are the minus sign and characters of East Asian keyboards.
        case ".", "/", "(", ")", "[", "]", "\u{2212}", "\u{ff0e}", "\u{ff0f}", "\u{ff08}", "\u{ff09}", "\u{30fc}": true
        default:
            scalar.properties.isDefaultIgnorableCodePoint
                || [.spaceSeparator, .dashPunctuation].contains(scalar.properties.generalCategory)
        }
    }

    private static func text(_ digits: some Sequence<UInt8>) -> String { digits.map(String.init).joined() }

    /// The calling code and the last four digits, as in `+1 (***) ***-1234`.
    var masked: String { "+\(callingCode) (***) ***-\(e164.suffix(4))" }
}
