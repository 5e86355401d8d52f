/// A calendar date without time and time zone, in the proleptic Gregorian calendar, years 1 to 9999. On the wire it is
/// `YYYY-MM-DD`.
public struct CivilDate: Hashable, Sendable, Comparable, Codable, LosslessStringConvertible {
    /// From 1 to 9999.
    public let year: Int
    /// From 1 to 12.
    public let month: Int
    /// From 1 to the number of days of the month.
    public let day: Int

    /// Makes a date; `nil` if it does not exist in the calendar.
    public init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month), day >= 1, day <= Self.days(in: month, of: year)
        else {
            return nil
        }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Reads a date; `nil` if the text is no date.
    ///
    /// - Parameter text: exactly `YYYY-MM-DD`.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-") else { return nil }
        func number(_ range: Range<Int>) -> Int? {
            var value = 0
            for byte in bytes[range] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                value = value * 10 + Int(byte - UInt8(ascii: "0"))
            }
            return value
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10) else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// Makes a date from a number of days.
    ///
    /// Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", 2013, `civil_from_days`.
    ///
    /// - Parameter daysSinceEpoch: days since 1970-01-01. It is clamped to years 1 to 9999.
    public init(daysSinceEpoch: Int) {
        let days = min(max(daysSinceEpoch, -719_162), 2_932_896) + 719_468
        let era = days / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shifted + 2) / 5 + 1
        month = shifted < 10 ? shifted + 3 : shifted - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Days since 1970-01-01. Source: as above, `days_from_civil`.
    public var daysSinceEpoch: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Whether a year has 366 days.
    public static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    /// The number of days of a month.
    ///
    /// - Parameter month: from 1 to 12.
    public static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    public static func < (a: CivilDate, b: CivilDate) -> Bool { (a.year, a.month, a.day) < (b.year, b.month, b.day) }

    public var description: String {
        String(unsafeUninitializedCapacity: 10) { buffer in
            var digits = DigitWriter(buffer: buffer)
            write(to: &digits)
            return digits.position
        }
    }

    func write(to digits: inout DigitWriter) {
        digits.put(year, width: 4)
        digits.put(UInt8(ascii: "-"))
        digits.put(month, width: 2)
        digits.put(UInt8(ascii: "-"))
        digits.put(day, width: 2)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = CivilDate(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a date YYYY-MM-DD")
        }
        self = value
    }
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// Writes numbers of a fixed width, as in dates. It is fast, since every reply contains a few dates.
struct DigitWriter {
    let buffer: UnsafeMutableBufferPointer<UInt8>
    var position = 0

    mutating func put(_ byte: UInt8) {
        buffer[position] = byte
        position += 1
    }

    /// - Parameter value: a number with at most `width` digits.
    mutating func put(_ value: Int, width: Int) {
        var rest = value
        for place in (position..<(position + width)).reversed() {
            buffer[place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        position += width
    }
}
