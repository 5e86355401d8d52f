import BusProtocol
import Foundation

/// The time zone in which a person's days begin and end.
package struct PersonTimeZone: Sendable, Equatable {
    /// A name in the IANA time zone database, such as `Europe/Stockholm` or `UTC`.
    package let name: String
    private let zone: TimeZone

    /// - Returns: `nil` for an unknown name, an abbreviation or a bare offset. The last two do not follow summer time.
    package init?(_ name: String) {
        guard name == "UTC" || name.contains("/"), let zone = TimeZone(identifier: name) else { return nil }
        (self.name, self.zone) = (name, zone)
    }

    /// The calendar date in this time zone.
    package func date(at now: Timestamp) -> CivilDate {
        let seconds = zone.secondsFromGMT(
            for: Date(timeIntervalSince1970: Double(now.microsecondsSinceEpoch) / 1_000_000))
        return (now + .seconds(seconds)).date
    }
}
