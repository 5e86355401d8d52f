import Foundation
import JSONText

/// A time in UTC with microseconds, as in PostgreSQL. On the wire it is RFC 3339: `2026-02-20T09:00:00.125Z`. The text
/// leaves out a fraction of zero. A reader accepts any offset from UTC.
public struct Timestamp: Hashable, Sendable, Comparable, Codable, LosslessStringConvertible {
    /// Microseconds since 1970-01-01T00:00:00Z, without leap seconds.
    public let microsecondsSinceEpoch: Int64

    /// Takes microseconds since 1970-01-01T00:00:00Z.
    public init(microsecondsSinceEpoch: Int64) { self.microsecondsSinceEpoch = microsecondsSinceEpoch }

    /// Takes a date, rounded to the microsecond.
    public init(_ date: Date) { microsecondsSinceEpoch = Int64((date.timeIntervalSince1970 * 1_000_000).rounded()) }

    /// The time of the system's clock.
    public static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microsecondsSinceEpoch: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }

    /// The time after a duration. It cuts the duration to the microsecond.
    public static func + (a: Timestamp, b: Duration) -> Timestamp {
        let (seconds, attoseconds) = b.components
        return Timestamp(
            microsecondsSinceEpoch: a.microsecondsSinceEpoch + seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    }
    /// The time before a duration.
    public static func - (a: Timestamp, b: Duration) -> Timestamp { a + (.zero - b) }
    /// The time from `b` to `a`.
    public static func - (a: Timestamp, b: Timestamp) -> Duration {
        .microseconds(a.microsecondsSinceEpoch - b.microsecondsSinceEpoch)
    }
    public static func < (a: Timestamp, b: Timestamp) -> Bool { a.microsecondsSinceEpoch < b.microsecondsSinceEpoch }

    /// The calendar date in UTC.
    public var date: CivilDate {
        CivilDate(daysSinceEpoch: Int(Self.floorDivide(microsecondsSinceEpoch, 86_400_000_000)))
    }

    private static func floorDivide(_ a: Int64, _ b: Int64) -> Int64 { a / b - (a % b < 0 ? 1 : 0) }

    /// Reads a time; `nil` if the text is none.
    ///
    /// - Parameter text: RFC 3339 with `T`, and `Z` or an offset. The date exists, seconds go from 00 to 59, and a
    ///   fraction has at most nine digits. The time is cut to the microsecond.
    public init?(_ text: String) {
        guard JSONSchema.StringFormat.dateTime.holds(for: text), let date = CivilDate(String(text.prefix(10))) else {
            return nil
        }
        let bytes = Array(text.utf8)
        var seconds = Int64(date.daysSinceEpoch) * 86_400 + Self.seconds(bytes[11..<16]) + Self.number(bytes[17..<19])
        if bytes.last != UInt8(ascii: "Z") {
            let offset = Self.seconds(bytes.suffix(5))
            seconds -= bytes[bytes.count - 6] == UInt8(ascii: "-") ? -offset : offset
        }
        var fraction: Int64 = 0
        if bytes[19] == UInt8(ascii: ".") {
            let digits = bytes[20...].prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }.prefix(6)
            fraction = Self.number(digits)
            for _ in digits.count..<6 { fraction *= 10 }
        }
        microsecondsSinceEpoch = seconds * 1_000_000 + fraction
    }

    /// The seconds of `hh:mm`.
    private static func seconds(_ bytes: ArraySlice<UInt8>) -> Int64 {
        number(bytes.prefix(2)) * 3600 + number(bytes.suffix(2)) * 60
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64 {
        digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    public var description: String {
        let days = Self.floorDivide(microsecondsSinceEpoch, 86_400_000_000)
        let ofDay = Int(microsecondsSinceEpoch - days * 86_400_000_000)
        let (seconds, fraction) = (ofDay / 1_000_000, ofDay % 1_000_000)
        return String(unsafeUninitializedCapacity: 27) { buffer in
            var digits = DigitWriter(buffer: buffer)
            date.write(to: &digits)
            digits.put(UInt8(ascii: "T"))
            digits.put(seconds / 3600, width: 2)
            digits.put(UInt8(ascii: ":"))
            digits.put(seconds / 60 % 60, width: 2)
            digits.put(UInt8(ascii: ":"))
            digits.put(seconds % 60, width: 2)
            if fraction != 0 {
                digits.put(UInt8(ascii: "."))
                digits.put(fraction, width: 6)
                while buffer[digits.position - 1] == UInt8(ascii: "0") { digits.position -= 1 }
            }
            digits.put(UInt8(ascii: "Z"))
            return digits.position
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Timestamp(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an RFC 3339 time")
        }
        self = value
    }
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
