import Foundation

/// A time in UTC with microseconds, as in PostgreSQL. On the wire it is RFC 3339: `2026-02-20T09:00:00.125Z`. A
/// fraction of zero is left out.
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

    /// The time after a duration, which is cut to the microsecond.
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
    /// - Parameter text: RFC 3339 with `T` and `Z`, an existing date, seconds from 00 to 59 and at most six digits of
    ///   fraction.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard (20...27).contains(bytes.count), bytes.last == UInt8(ascii: "Z"), bytes[10] == UInt8(ascii: "T"),
            bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
            let date = CivilDate(String(text.prefix(10))),
            let hour = Self.digits(bytes[11..<13]), let minute = Self.digits(bytes[14..<16]),
            let second = Self.digits(bytes[17..<19]), hour < 24, minute < 60, second < 60
        else { return nil }
        var fraction = 0
        if bytes.count > 20 {
            let part = bytes[20..<(bytes.count - 1)]
            guard bytes[19] == UInt8(ascii: "."), !part.isEmpty, let value = Self.digits(part) else { return nil }
            fraction = value
            for _ in part.count..<6 { fraction *= 10 }
        }
        let seconds = Int64(date.daysSinceEpoch) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
        microsecondsSinceEpoch = seconds * 1_000_000 + Int64(fraction)
    }

    private static func digits(_ bytes: ArraySlice<UInt8>) -> Int? {
        var value = 0
        for byte in bytes {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return value
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
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an RFC 3339 time in UTC")
        }
        self = value
    }
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
