import Foundation

/// Reads the header `Retry-After` (RFC 9110, section 10.2.3).
package enum RetryAfter {
    /// Reads the header's value.
    ///
    /// - Parameter header: seconds, or a date in the preferred form of HTTP.
    /// - Returns: `nil` if it is neither; zero for a date in the past.
    package static func duration(_ header: String, now: Date) -> Duration? {
        if let seconds = Int64(header), seconds >= 0 { return .seconds(min(seconds, longest)) }
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        guard let date = format.date(from: header) else { return nil }
        return .seconds(min(max(0, Int64(date.timeIntervalSince(now).rounded(.up))), longest))
    }

    /// In seconds. The limit prevents an overflow by absurd values.
    private static let longest: Int64 = 31_536_000
}
